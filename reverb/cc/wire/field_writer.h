// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Writes fields into memory whose size was worked out before.
//
// For the messages that carry data: their nested lengths stand in front of
// payloads that are not copied, so sizes are needed first anyway, and writing
// by a pointer then costs nothing per byte. Fields with the value zero are
// left out, as proto3 has it.
//
// Threads: one thread.

#ifndef REVERB_CC_WIRE_FIELD_WRITER_H_
#define REVERB_CC_WIRE_FIELD_WRITER_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include <protozero/varint.hpp>

#include "reverb/cc/wire/field_reader.h"

namespace reverb::wire {

// Bytes a field takes, tag included.
inline size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}
inline size_t TagSize(uint32_t number) {
  return VarintSize(Tag(number, kVarint));
}
inline size_t NumberSize(uint32_t number, uint64_t value) {
  return value == 0 ? 0 : TagSize(number) + VarintSize(value);
}
inline size_t DoubleSize(uint32_t number, double value) {
  return std::bit_cast<uint64_t>(value) == 0 ? 0 : TagSize(number) + 8;
}
// A message of `size` bytes; written even if empty.
inline size_t MessageSize(uint32_t number, size_t size) {
  return TagSize(number) + VarintSize(size) + size;
}
inline size_t StringSize(uint32_t number, absl::string_view value) {
  return value.empty() ? 0 : MessageSize(number, value.size());
}

// As a varint on the wire: negative numbers take ten bytes.
inline uint64_t SignedVarint(int64_t value) {
  return static_cast<uint64_t>(value);
}

class FieldWriter {
 public:
  explicit FieldWriter(char* out) : out_(out) {}

  void Number(uint32_t number, uint64_t value) {
    if (value == 0) return;
    Varint(Tag(number, kVarint));
    Varint(value);
  }
  void Double(uint32_t number, double value) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    if (bits == 0) return;  // -0.0 is written
    Varint(Tag(number, kFixed64));
    std::memcpy(out_, &bits, 8);  // little-endian hosts only
    out_ += 8;
  }
  void String(uint32_t number, absl::string_view value) {
    if (value.empty()) return;
    Begin(number, value.size());
    Raw(value);
  }
  // Tag and length of a message whose `size` bytes are written next.
  void Begin(uint32_t number, size_t size) {
    Varint(Tag(number, kBytes));
    Varint(size);
  }
  void Raw(absl::string_view bytes) {
    if (bytes.empty()) return;
    std::copy(bytes.begin(), bytes.end(), out_);
    out_ += bytes.size();
  }
  void Varint(uint64_t value) {
    out_ += protozero::add_varint_to_buffer(out_, value);
  }

 private:
  char* out_;
};

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_FIELD_WRITER_H_
