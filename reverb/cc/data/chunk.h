// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// An immutable, encoded run of cells, shared by the items that refer to it.
//
// Holds the bytes of its wire message (ChunkData) exactly as they were
// received or sealed, and the few header fields the engine needs. They are
// never decoded here; `data/decode.h` does that for readers.
//
// A chunk key is chosen by the client and means something only within one
// insert stream or one item; everywhere else the serial names the chunk.
//
// Threads: thread-safe (immutable).

#ifndef REVERB_CC_DATA_CHUNK_H_
#define REVERB_CC_DATA_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/support/ref.h"

namespace reverb {

using ChunkKey = uint64_t;

// Steps of an episode that a chunk's rows come from.
struct SequenceRange {
  uint64_t episode_id = 0;
  int32_t start = 0;    // step of the first row
  int32_t end = 0;      // step of the last row, inclusive
  bool sparse = false;  // some step in between has no row

  friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

class Chunk : public RefCounted<Chunk> {
 public:
  struct Header {
    ChunkKey key = 0;
    SequenceRange range;
    bool delta_encoded = false;
    // Rows (first dimension) of each tensor; nearly always one tensor, or
    // equal counts.
    absl::InlinedVector<int32_t, 2> tensor_rows;
  };

  // `bytes` is a whole ChunkData message whose header is `header`.
  Chunk(Header header, std::unique_ptr<char[]> bytes, size_t size);

  ChunkKey key() const { return header_.key; }
  // Unique among the chunks of this process.
  uint64_t serial() const { return serial_; }
  const SequenceRange& range() const { return header_.range; }
  bool delta_encoded() const { return header_.delta_encoded; }
  absl::Span<const int32_t> tensor_rows() const { return header_.tensor_rows; }
  absl::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  const Header header_;
  const uint64_t serial_;
  const std::unique_ptr<char[]> bytes_;
  const size_t size_;
};

}  // namespace reverb

#endif  // REVERB_CC_DATA_CHUNK_H_
