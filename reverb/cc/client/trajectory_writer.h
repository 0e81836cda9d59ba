// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The trajectory writer: steps in, items over any of the cells that are still
// kept out. Semantics of spec/api.md section 12.
//
// Columns are numbers here; what they are called and how steps nest is up to
// the bindings. A writer has one environment, or as many as the batches of
// steps that it is given have rows.
//
// Threads: one thread, but for `Close`, `closed` and the histories.

#ifndef REVERB_CC_CLIENT_TRAJECTORY_WRITER_H_
#define REVERB_CC_CLIENT_TRAJECTORY_WRITER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/item_queue.h"
#include "reverb/cc/client/step_history.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/data/item.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

class Endpoint;
class SignatureCache;

class TrajectoryWriter {
 public:
  struct Options {
    int64_t num_keep_alive_refs = 1;  // cells per column, for later items
    bool validate_items = true;       // against the tables' signatures
    // Of items that are not confirmed; none: no limit.
    std::optional<int64_t> max_pending_bytes = std::nullopt;
  };
  // Which columns a step gives values, and the options of those among them
  // that are new: their numbers follow those of the columns there are.
  struct StepColumns {
    absl::Span<const int> columns;
    absl::Span<const ColumnOptions> added;
  };

  TrajectoryWriter(const Options& options,
                   const std::shared_ptr<Endpoint>& endpoint,
                   std::shared_ptr<SignatureCache> signatures);
  ~TrajectoryWriter();
  TrajectoryWriter(const TrajectoryWriter&) = delete;
  TrajectoryWriter& operator=(const TrajectoryWriter&) = delete;

  // Appends to the open step, or begins one. All or nothing. Errors name the
  // column by its number. Never blocks.
  absl::Status Append(const StepColumns& step,
                      absl::Span<const TensorView> cells, bool partial_step);
  // Appends a step to each of `num_envs` environments, of columns
  // `[num_envs, ...]`. `episode_ends`: empty, or one flag each; the episode is
  // over after this step, which the next step of that environment begins with.
  absl::Status AppendBatch(const StepColumns& step,
                           absl::Span<const TensorView> batch, int64_t num_envs,
                           absl::Span<const bool> episode_ends);

  // Of columns that are yet to come as well: histories keep as many steps as
  // the largest `num_keep_alive_refs` there has been.
  void WidenWindow(int64_t num_keep_alive_refs);
  // FailedPrecondition while a chunk of the column is being filled.
  absl::Status Configure(int column, const ColumnOptions& options);

  // Queues an item and returns its key. Waits for nothing but the signature
  // of a table that isn't known yet.
  absl::StatusOr<ItemKey> CreateItem(
      absl::string_view table, double priority,
      absl::Span<const ItemColumn> columns,
      const std::shared_ptr<const std::string>& structure,
      const WaitOptions& wait);
  // Whether `CreateItem` for `table` would wait.
  bool NeedsSignature(absl::string_view table) const;

  // Completes the chunks of all items but the newest `max_pending`, and waits
  // until no more than those are unconfirmed.
  absl::Status Flush(int64_t max_pending, const WaitOptions& wait);
  // Flushes, then begins a new episode, of `environment` alone or of all
  // (-1). Changes nothing unless all is confirmed.
  absl::Status EndEpisode(int environment, bool clear, const WaitOptions& wait);

  // Drops what was not sent. Idempotent; any thread.
  void Close();
  bool closed() const { return closed_; }
  // FailedPrecondition after `Close`, or the stream's permanent error.
  absl::Status CheckUsable() const;

  int num_columns() const { return num_columns_; }
  // One per environment.
  absl::Span<const std::shared_ptr<StepHistory>> histories() const {
    return histories_;
  }
  bool is_batched() const { return mode_ == Mode::kBatch; }

 private:
  enum class Mode { kNew, kSingle, kBatch };

  void AddColumns(absl::Span<const ColumnOptions> added);
  absl::Status CheckRows(const StepColumns& step,
                         absl::Span<const TensorView> batch,
                         int64_t num_envs) const;
  absl::Status Send();

  const Options options_;
  const std::shared_ptr<SignatureCache> signatures_;
  ItemQueue queue_;
  Mode mode_ = Mode::kNew;
  std::vector<std::shared_ptr<StepHistory>> histories_;
  std::vector<bool> ended_;  // per environment: before its next step
  int64_t window_;           // steps that histories keep
  int num_columns_ = 0;
  std::atomic<bool> closed_{false};
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_TRAJECTORY_WRITER_H_
