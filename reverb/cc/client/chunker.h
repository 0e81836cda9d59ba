// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Gathers rows of one or more columns and seals them into chunks.
//
// A chunk is sealed after `max_rows` rows or as soon as its rows reach
// `max_raw_bytes`, whichever comes first; it has one row at least. The legacy
// writer has one chunker for all columns, the trajectory writer one for each.
//
// Errors: InvalidArgument for cells that don't fit the open chunk,
// ResourceExhausted for a row no chunk can hold; neither changes anything.
// Threads: one thread.

#ifndef REVERB_CC_CLIENT_CHUNKER_H_
#define REVERB_CC_CLIENT_CHUNKER_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/data/row_buffer.h"
#include "reverb/cc/support/ref.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

class Chunker {
 public:
  struct Options {
    int64_t max_rows = 1;                    // >= 1
    size_t max_raw_bytes = size_t{1} << 20;  // uncompressed, all columns
    bool delta_encoded = false;
  };

  explicit Chunker(const Options& options);

  // Appends one cell per column; `step` is the row's number in its episode,
  // above that of the row before. The first row of a chunk fixes the number
  // of columns, their dtypes and shapes. Requires !full().
  absl::Status Append(absl::Span<const TensorView> cells, uint64_t episode_id,
                      int32_t step);
  // As `Append`, of cells that are known to be acceptable.
  void AppendChecked(absl::Span<const TensorView> cells, uint64_t episode_id,
                     int32_t step);

  // Whether the open chunk is to be sealed before the next row.
  bool full() const;
  int64_t num_rows() const { return num_rows_; }
  // The columns of the open chunk; meaningful while num_rows() > 0.
  absl::Span<const RowBuffer> columns() const { return columns_; }
  // The key the open chunk will have.
  ChunkKey key() const { return key_; }

  // The rows as a chunk, and begins the next. Requires num_rows() > 0.
  Ref<const Chunk> Seal();
  // Lets go of the memory. Requires num_rows() == 0; no rows may follow.
  void Discard() { columns_.clear(); }

 private:
  absl::Status Check(absl::Span<const TensorView> cells) const;

  Options options_;
  absl::InlinedVector<RowBuffer, 1> columns_;
  int64_t num_rows_ = 0;
  size_t raw_bytes_ = 0;
  SequenceRange range_;
  ChunkKey key_;
};

// A cell's size in memory: what the limits count.
size_t RawBytes(const TensorView& cell);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_CHUNKER_H_
