// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The cells of one column: what steps gave it, in the order they came.
//
// Consecutive cells stand together in blocks. A block becomes one chunk, but
// not before an item that needs it is sent: cells that no item refers to are
// never encoded.
//
// Threads: `CellColumn` is for one thread at a time (its writer's), but for
// `spec` and what blocks and references ask of it. Blocks and references are
// thread-safe: programs keep references and read them anywhere.

#ifndef REVERB_CC_CLIENT_CELLS_H_
#define REVERB_CC_CLIENT_CELLS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/client/chunk_length_tuner.h"
#include "reverb/cc/client/chunker.h"
#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/data/chunk.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/support/ref.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

class CellBlock;

// One cell; without a block it stands for a step that gave no value.
struct CellRef {
  Ref<CellBlock> block;
  int32_t row = 0;

  explicit operator bool() const { return static_cast<bool>(block); }
  bool expired() const;
  friend bool operator==(const CellRef& a, const CellRef& b) {
    return a.block.get() == b.block.get() && a.row == b.row;
  }
};

struct ColumnOptions {
  int64_t num_keep_alive_refs = 1;  // cells; >= 1
  // Cells of a chunk, 1 .. num_keep_alive_refs; none: found by a tuner.
  std::optional<int64_t> max_chunk_length = std::nullopt;
};

// Blocks refer to their column and a column to the blocks that are alive:
// `Clear` must be the last call.
class CellColumn : public RefCounted<CellColumn> {
 public:
  explicit CellColumn(const ColumnOptions& options);

  // Whether `cell` can be appended: dtype and shape are those of the first
  // cell, else InvalidArgument; it fits into a chunk, else ResourceExhausted.
  absl::Status Check(const TensorView& cell) const;
  // Requires Check(cell).ok(). `step` is the step's number in the episode.
  CellRef Append(const TensorView& cell, uint64_t episode_id, int32_t step);

  // FailedPrecondition if a chunk has been begun.
  absl::Status CheckConfigure() const;
  // Requires CheckConfigure().ok().
  void Configure(const ColumnOptions& options);
  // Ends the open chunk: the next cell begins another.
  void CloseBlock();
  // All cells expire.
  void Clear();

  // Dtype and shape of a cell; of no dtype before the first one. Thread-safe
  // once there was a cell.
  const CellSpec& spec() const { return spec_; }
  // Chunks made of cells that have expired since the last call: no later item
  // can need them.
  std::vector<ChunkKey> TakeExpiredChunks();

  // Cells before this one, counted from the first ever, have expired.
  int64_t first_alive() const {
    return first_alive_.load(std::memory_order_relaxed);
  }
  // For the tuner. Thread-safe.
  void OnChunk(int64_t num_cells, size_t bytes);
  void OnItem(int64_t num_cells, size_t bytes);

 private:
  // Cells of the next chunk.
  int64_t ChunkLength() const;
  void ExpireBefore(int64_t cell);

  ColumnOptions options_;
  CellSpec spec_;
  int64_t num_cells_ = 0;
  std::atomic<int64_t> first_alive_{0};
  std::deque<Ref<CellBlock>> blocks_;  // with cells that are alive
  std::vector<ChunkKey> expired_chunks_;
  mutable Mutex mu_;
  ChunkLengthTuner tuner_ ABSL_GUARDED_BY(mu_);
};

class CellBlock : public RefCounted<CellBlock> {
 public:
  CellBlock(Ref<CellColumn> column, int64_t first_cell, int64_t max_rows);

  const CellColumn& column() const { return *column_; }
  CellColumn& column() { return *column_; }
  int64_t first_cell() const { return first_cell_; }
  // The row that `cell` has become; none if the block is closed, or is now
  // since the cell doesn't fit beside the others.
  std::optional<int32_t> TryAppend(const TensorView& cell, uint64_t episode_id,
                                   int32_t step);
  // It takes no more rows.
  void Close();
  bool closed() const;
  // The cell after the last one; none while the block takes more.
  std::optional<int64_t> end_cell() const;

  // The rows as a chunk, which is made by the first call; closes the block.
  Ref<const Chunk> ToChunk();
  // The chunk, if it has been made.
  Ref<const Chunk> chunk() const;

  // Whether all its cells have expired.
  bool expired() const;

  // Rows as a tensor `[length, ...]`. Requires that they exist.
  absl::StatusOr<Tensor> Rows(int32_t offset, int32_t length) const;

  // What of the block's bytes has not been charged to an item yet; from now
  // on it has.
  size_t TakeUncharged();
  // False for all calls but the first.
  bool TakeAnnouncement() { return !announced_.exchange(true); }

 private:
  const Ref<CellColumn> column_;
  const int64_t first_cell_;
  std::atomic<bool> announced_{false};
  mutable Mutex mu_;
  Chunker chunker_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t num_rows_ ABSL_GUARDED_BY(mu_) = 0;
  size_t raw_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  size_t charged_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  Ref<const Chunk> chunk_ ABSL_GUARDED_BY(mu_);
};

// Neighbouring cells of one block.
struct CellRun {
  Ref<CellBlock> block;
  int32_t offset = 0;
  int32_t length = 0;
};

// `cells` as few runs: a run ends where the next cell is not its neighbour.
std::vector<CellRun> ToRuns(absl::Span<const CellRef> cells);

// A copy of the cells, `[cells, ...]`. Requires one at least, all with blocks
// and of one dtype and shape.
absl::StatusOr<Tensor> StackCells(absl::Span<const CellRef> cells);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_CELLS_H_
