// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The steps of one environment: columns side by side, and what of them can be
// referred to.
//
// A position is a step's number since the history was last cleared, the open
// step included: `length` in all, of which the newest are retained.
//
// Threads: thread-safe; appending and ending are for one thread at a time.

#ifndef REVERB_CC_CLIENT_STEP_HISTORY_H_
#define REVERB_CC_CLIENT_STEP_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/client/cells.h"
#include "reverb/cc/data/chunk.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/support/ref.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

class StepHistory {
 public:
  StepHistory();
  ~StepHistory();
  StepHistory(const StepHistory&) = delete;
  StepHistory& operator=(const StepHistory&) = delete;

  // Adds a column, without a value in all steps there are, that retains
  // `window` steps. Columns are numbered from 0.
  void AddColumn(const ColumnOptions& options, int64_t window);
  // FailedPrecondition while a chunk of the column is being filled.
  absl::Status CheckConfigure(int column) const;
  // Requires that `CheckConfigure` has passed.
  void Configure(int column, const ColumnOptions& options, int64_t window);

  // Whether `cells[i]` can be given to column `columns[i]`, which may be one
  // that is yet to be added: dtype and shape as before (InvalidArgument), and
  // no second value in the open step. Errors name the column by its number.
  absl::Status Check(absl::Span<const int> columns,
                     absl::Span<const TensorView> cells) const;
  bool HasValueInOpenStep(int column) const;
  // Gives the columns values in the open step, or in a new one if none is open.
  // Requires that `Check` has passed. `partial_step` keeps it open.
  void Append(absl::Span<const int> columns, absl::Span<const TensorView> cells,
              bool partial_step);

  // Ends all chunks; steps are counted from 0 and a new episode begins.
  // `clear`: all steps are forgotten.
  void EndEpisode(bool clear);
  // Ends all chunks that are being filled.
  void CloseBlocks();

  bool step_is_open() const;
  int64_t episode_steps() const;  // finished ones

  struct View {
    int64_t length = 0;    // steps
    int64_t retained = 0;  // the newest of them
  };
  View view(int column) const;
  // The cell of the step at `position`, one of those retained; without a
  // block where the step had no value.
  CellRef At(int column, int64_t position) const;
  // As `At`, of positions `start`, `start + step`, ...
  std::vector<CellRef> Range(int column, int64_t start, int64_t count,
                             int64_t step) const;
  // Dtype and shape of a column's cells; of no dtype while it had none.
  CellSpec spec(int column) const;

  // Chunks that no later item can need, since the last call.
  std::vector<ChunkKey> TakeExpiredChunks();

 private:
  struct Column {
    Ref<CellColumn> cells;
    int64_t window = 1;
    std::deque<CellRef> retained;
    int64_t last_step = -1;  // that gave it a value
  };

  void BeginStepLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CloseBlocksLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  std::vector<Column> columns_ ABSL_GUARDED_BY(mu_);
  uint64_t episode_id_ ABSL_GUARDED_BY(mu_);
  int64_t length_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t episode_steps_ ABSL_GUARDED_BY(mu_) = 0;
  // Counts on when the history is cleared, so that it names a step for ever.
  int64_t steps_begun_ ABSL_GUARDED_BY(mu_) = 0;
  bool step_is_open_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_STEP_HISTORY_H_
