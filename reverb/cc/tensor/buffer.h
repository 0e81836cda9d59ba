// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Uninitialised memory for decoded data, aligned to 64 bytes and pooled.
//
// A fresh allocation per element is the slowest way to hand out data: its
// pages fault one by one. Buffers up to 64 MiB go back to a pool when they die;
// it keeps at most 256 MiB that nobody uses.
//
// Threads: a Buffer belongs to one thread at a time; the pool is thread-safe
// and never destroyed (frameworks free tensors after exit has begun).

#ifndef REVERB_CC_TENSOR_BUFFER_H_
#define REVERB_CC_TENSOR_BUFFER_H_

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace reverb {

inline constexpr size_t kBufferAlignment = 64;  // bytes

class Buffer {
 public:
  Buffer() = default;
  // ResourceExhausted if there is no such memory. Size 0 is allowed.
  static absl::StatusOr<Buffer> Allocate(size_t size);

  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer();

  char* data() const { return data_; }
  size_t size() const { return size_; }
  absl::Span<char> span() const { return {data_, size_}; }

 private:
  Buffer(char* data, size_t size) : data_(data), size_(size) {}

  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_TENSOR_BUFFER_H_
