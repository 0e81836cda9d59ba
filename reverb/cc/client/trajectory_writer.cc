// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/trajectory_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/client/rows.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/signature.h"

namespace reverb {

TrajectoryWriter::TrajectoryWriter(const Options& options,
                                   const std::shared_ptr<Endpoint>& endpoint,
                                   std::shared_ptr<SignatureCache> signatures)
    : options_(options),
      signatures_(std::move(signatures)),
      queue_(InsertStream::Create(endpoint), options.max_pending_bytes),
      histories_{std::make_shared<StepHistory>()},
      ended_{false},
      window_(options.num_keep_alive_refs) {}

TrajectoryWriter::~TrajectoryWriter() { Close(); }

void TrajectoryWriter::Close() {
  closed_ = true;
  queue_.Close();
}

absl::Status TrajectoryWriter::CheckUsable() const {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  if (closed_) {
    return absl::FailedPreconditionError("the writer has been closed");
  }
  return queue_.status();
}

void TrajectoryWriter::AddColumns(absl::Span<const ColumnOptions> added) {
  for (const ColumnOptions& options : added) {
    WidenWindow(options.num_keep_alive_refs);
    for (const std::shared_ptr<StepHistory>& history : histories_) {
      history->AddColumn(options, window_);
    }
    ++num_columns_;
  }
}

absl::Status TrajectoryWriter::Append(const StepColumns& step,
                                      absl::Span<const TensorView> cells,
                                      bool partial_step) {
  REVERB_RETURN_IF_ERROR(CheckUsable());
  if (mode_ == Mode::kBatch) {
    return absl::FailedPreconditionError(
        "append can't follow append_batch: a writer has one environment or a "
        "batch of them");
  }
  REVERB_RETURN_IF_ERROR(queue_.CheckRoom());
  StepHistory& history = *histories_[0];
  REVERB_RETURN_IF_ERROR(history.Check(step.columns, cells));
  mode_ = Mode::kSingle;
  AddColumns(step.added);
  history.Append(step.columns, cells, partial_step);
  return Send();
}

absl::Status TrajectoryWriter::CheckRows(const StepColumns& step,
                                         absl::Span<const TensorView> batch,
                                         int64_t num_envs) const {
  REVERB_RETURN_IF_ERROR(CheckBatch(step.columns, batch, num_envs));
  std::vector<TensorView> row;
  for (int64_t i = 0; i < num_envs; ++i) {
    RowOf(batch, i, row);
    // Before the first batch there is one history, without any steps.
    const auto at = std::min(static_cast<size_t>(i), histories_.size() - 1);
    REVERB_RETURN_IF_ERROR(histories_[at]->Check(step.columns, row));
  }
  return absl::OkStatus();
}

absl::Status TrajectoryWriter::AppendBatch(
    const StepColumns& step, absl::Span<const TensorView> batch,
    int64_t num_envs, absl::Span<const bool> episode_ends) {
  REVERB_RETURN_IF_ERROR(CheckUsable());
  if (mode_ == Mode::kSingle) {
    return absl::FailedPreconditionError(
        "append_batch can't follow append: a writer has one environment or a "
        "batch of them");
  }
  if (num_envs < 1) {
    return absl::InvalidArgumentError(
        "a batch must have one environment at least");
  }
  if (mode_ == Mode::kBatch &&
      num_envs != static_cast<int64_t>(histories_.size())) {
    return WithErrorInfo(
        absl::InvalidArgumentError(absl::StrCat(
            "the batch has ", num_envs, " environments, the first one had ",
            histories_.size())),
        {.limit = absl::StrCat(histories_.size()),
         .actual = absl::StrCat(num_envs)});
  }
  REVERB_RETURN_IF_ERROR(queue_.CheckRoom());
  REVERB_RETURN_IF_ERROR(CheckRows(step, batch, num_envs));
  mode_ = Mode::kBatch;
  ended_.resize(static_cast<size_t>(num_envs), false);
  while (histories_.size() < static_cast<size_t>(num_envs)) {
    histories_.push_back(std::make_shared<StepHistory>());
  }
  AddColumns(step.added);
  std::vector<TensorView> row;
  for (size_t i = 0; i < histories_.size(); ++i) {
    StepHistory& history = *histories_[i];
    if (ended_[i]) history.EndEpisode(true);
    RowOf(batch, static_cast<int64_t>(i), row);
    history.Append(step.columns, row, false);
    ended_[i] = !episode_ends.empty() && episode_ends[i];
    // Nothing will join the cells of this episode.
    if (ended_[i]) history.CloseBlocks();
  }
  return Send();
}

void TrajectoryWriter::WidenWindow(int64_t num_keep_alive_refs) {
  window_ = std::max(window_, num_keep_alive_refs);
}

absl::Status TrajectoryWriter::Configure(int column,
                                         const ColumnOptions& options) {
  // Of all environments or of none.
  for (const std::shared_ptr<StepHistory>& history : histories_) {
    REVERB_RETURN_IF_ERROR(history->CheckConfigure(column));
  }
  WidenWindow(options.num_keep_alive_refs);
  for (const std::shared_ptr<StepHistory>& history : histories_) {
    history->Configure(column, options, window_);
  }
  return absl::OkStatus();
}

bool TrajectoryWriter::NeedsSignature(absl::string_view table) const {
  return options_.validate_items && !signatures_->Knows(table);
}

absl::StatusOr<ItemKey> TrajectoryWriter::CreateItem(
    absl::string_view table, double priority,
    absl::Span<const ItemColumn> columns,
    const std::shared_ptr<const std::string>& structure,
    const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckPriorityIsNumber(table, priority));
  REVERB_RETURN_IF_ERROR(CheckUsable());
  REVERB_RETURN_IF_ERROR(CheckItemColumns(table, columns));
  if (options_.validate_items) {
    REVERB_ASSIGN_OR_RETURN(std::shared_ptr<const Signature> signature,
                            signatures_->Find(table, wait));
    if (signature != nullptr) {
      REVERB_RETURN_IF_ERROR(CheckItemSignature(table, *signature, columns));
    }
  }
  const ItemKey key = queue_.Add(table, priority, columns, structure);
  REVERB_RETURN_IF_ERROR(Send());
  return key;
}

absl::Status TrajectoryWriter::Send() {
  if (!queue_.can_send()) return absl::OkStatus();
  return queue_.Send(histories_);
}

absl::Status TrajectoryWriter::Flush(int64_t max_pending,
                                     const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckUsable());
  queue_.CloseOldest(max_pending);
  REVERB_RETURN_IF_ERROR(Send());
  return queue_.Await(max_pending, wait);
}

absl::Status TrajectoryWriter::EndEpisode(int environment, bool clear,
                                          const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(Flush(0, wait));
  for (size_t i = 0; i < histories_.size(); ++i) {
    if (environment >= 0 && static_cast<size_t>(environment) != i) continue;
    histories_[i]->EndEpisode(clear);
    ended_[i] = false;
  }
  return absl::OkStatus();
}

}  // namespace reverb
