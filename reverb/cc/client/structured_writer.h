// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The structured writer: steps in, the items that its configs describe out.
// Semantics of spec/api.md section 13.6.
//
// Columns are numbered as the leaves of a step; those that no config asks
// about are to be left out by the caller (`uses`). A writer has one
// environment, or as many as the batches of steps that it is given have rows;
// configs are evaluated for each by itself.
//
// Threads: one thread.

#ifndef REVERB_CC_CLIENT_STRUCTURED_WRITER_H_
#define REVERB_CC_CLIENT_STRUCTURED_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/client/item_queue.h"
#include "reverb/cc/client/pattern_schedule.h"
#include "reverb/cc/client/step_history.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/tensor/tensor.h"
#include "reverb/cc/wire/pattern_config.h"

namespace reverb {

class Endpoint;

class StructuredWriter {
 public:
  // InvalidArgument if a config makes no sense. Never blocks.
  static absl::StatusOr<std::unique_ptr<StructuredWriter>> Create(
      std::vector<PatternConfig> configs, std::shared_ptr<Endpoint> endpoint);
  // What is pending is sent in the background.
  ~StructuredWriter();
  StructuredWriter(const StructuredWriter&) = delete;
  StructuredWriter& operator=(const StructuredWriter&) = delete;

  // Whether a config refers to the column.
  bool uses(int column) const;

  // Gives `columns`, all of them used, values in the open step or in a new
  // one, and makes the items that the configs want of it. Values are stored
  // all or none; errors name the column by its number. An error of a priority
  // leaves out that item alone. Never blocks.
  absl::Status Append(absl::Span<const int> columns,
                      absl::Span<const TensorView> cells, bool partial_step);
  // A step for each of `num_envs` environments, of columns `[num_envs, ...]`.
  // `episode_ends`: empty, or one flag each; ends that environment's episode
  // after this step, without waiting.
  absl::Status AppendBatch(absl::Span<const int> columns,
                           absl::Span<const TensorView> batch, int64_t num_envs,
                           absl::Span<const bool> episode_ends);

  // Completes the chunks of all items but the newest `max_pending`, and waits
  // until no more than those are unconfirmed.
  absl::Status Flush(int64_t max_pending, const WaitOptions& wait);
  // Makes the items of the episode's end, flushes, and begins a new episode:
  // of `environment` alone or of all (-1). If not all is confirmed, the
  // episode goes on; the items are not made again.
  absl::Status EndEpisode(int environment, bool clear, const WaitOptions& wait);

  // Whether a step has ever been stored.
  bool has_steps() const { return mode_ != Mode::kNew; }
  bool step_is_open() const { return environments_[0].steps->step_is_open(); }
  // Of the batches; 0 before the first, and without them.
  int64_t num_envs() const;

 private:
  using Configs = PatternSchedule::Configs;
  enum class Mode { kNew, kSingle, kBatch };
  struct Environment {
    std::shared_ptr<StepHistory> steps;
    PatternSchedule schedule;
  };
  // What a node selects of an environment's steps.
  struct Selected {
    std::vector<CellRef> cells;
    bool squeeze = false;
  };

  StructuredWriter(Configs configs, std::shared_ptr<Endpoint> endpoint);

  Environment NewEnvironment();
  // The numbers that `columns` have in the histories; columns met for the
  // first time are added.
  std::vector<int> ToHistory(absl::Span<const int> columns);
  absl::Status CheckCells(const Environment& environment,
                          absl::Span<const int> columns,
                          absl::Span<const TensorView> cells) const;
  void AppendTo(Environment& environment, absl::Span<const int> columns,
                absl::Span<const TensorView> cells, bool partial_step);
  void WarnOfValue(int column);
  // Makes the items that are wanted; the first error of a priority.
  absl::Status MakeItems(Environment& environment, bool ends_episode);
  // False if a cell is missing.
  bool Select(const Environment& environment, const PatternNode& node,
              Selected& selected) const;
  static absl::StatusOr<double> PriorityOf(const PatternConfig& config,
                                           absl::Span<const Selected> columns);
  absl::Status CheckUsable() const;
  absl::Status Send();

  const Configs configs_;
  const std::shared_ptr<Endpoint> endpoint_;
  int64_t window_ = 1;  // steps that some pattern reaches back to
  // By config; null: a flat list.
  std::vector<std::shared_ptr<const std::string>> structures_;
  std::vector<bool> used_;           // by column
  std::vector<bool> is_condition_;   // by column: conditions ask for values
  std::vector<int> history_column_;  // by column; -1: not in the histories
  int num_history_columns_ = 0;
  absl::flat_hash_set<int> warned_;  // columns without a value for conditions
  ItemQueue queue_;
  Mode mode_ = Mode::kNew;
  std::vector<Environment> environments_;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_STRUCTURED_WRITER_H_
