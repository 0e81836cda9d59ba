// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/chunk.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace reverb {
namespace {

uint64_t NextSerial() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Chunk::Chunk(Header header, std::unique_ptr<char[]> bytes, size_t size)
    : header_(std::move(header)),
      serial_(NextSerial()),
      bytes_(std::move(bytes)),
      size_(size) {}

}  // namespace reverb
