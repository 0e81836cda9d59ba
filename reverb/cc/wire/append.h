// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Adds fields to the end of a string or a rope.

#ifndef REVERB_CC_WIRE_APPEND_H_
#define REVERB_CC_WIRE_APPEND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/types/span.h"

#include "reverb/cc/wire/field_writer.h"
#include "reverb/cc/wire/rope.h"

namespace reverb::wire {

// Calls `write(FieldWriter&)`, which writes exactly `size` bytes.
template <typename Fn>
void AppendFields(size_t size, std::string& out, Fn&& write) {
  const size_t begin = out.size();
  out.resize(begin + size);
  FieldWriter writer(out.data() + begin);
  write(writer);
}

// A repeated number in packed form; nothing if there are none.
inline void AppendPackedField(uint32_t number,
                              absl::Span<const uint64_t> values,
                              std::string& out) {
  if (values.empty()) return;
  size_t size = 0;
  for (uint64_t value : values) size += VarintSize(value);
  AppendFields(MessageSize(number, size), out, [&](FieldWriter& writer) {
    writer.Begin(number, size);
    for (uint64_t value : values) writer.Varint(value);
  });
}

// A chunk by reference, as field `number` of type ChunkData. Tiny ones are
// copied: that is cheaper than two more pieces for the transport to carry.
inline constexpr size_t kCopiedChunkBytes = 512;
inline void AppendChunkField(uint32_t number, Ref<const Chunk> chunk,
                             Rope& out) {
  const absl::string_view bytes = chunk->bytes();
  const bool copy = bytes.size() <= kCopiedChunkBytes;
  const size_t header = MessageSize(number, bytes.size()) - bytes.size();
  AppendFields(copy ? header + bytes.size() : header, out.Text(),
               [&](FieldWriter& writer) {
                 writer.Begin(number, bytes.size());
                 if (copy) writer.Raw(bytes);
               });
  if (!copy) out.AppendChunk(std::move(chunk));
}

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_APPEND_H_
