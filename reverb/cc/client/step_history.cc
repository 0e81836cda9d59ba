// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/step_history.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/data/row_buffer.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

absl::Status OfColumn(int column, const absl::Status& status) {
  ErrorInfo info = GetErrorInfo(status).value_or(ErrorInfo());
  info.column = absl::StrCat(column);
  return WithErrorInfo(
      absl::Status(status.code(),
                   absl::StrCat("column ", column, ": ", status.message())),
      info);
}

}  // namespace

StepHistory::StepHistory() : episode_id_(RandomKey()) {}

StepHistory::~StepHistory() {
  for (Column& column : columns_) column.cells->Clear();
}

void StepHistory::AddColumn(const ColumnOptions& options, int64_t window) {
  MutexLock lock(mu_);
  Column& column = columns_.emplace_back();
  column.cells = MakeRef<CellColumn>(options);
  column.window = window;
  column.retained.resize(
      static_cast<size_t>(std::min<int64_t>(length_, window)));
}

absl::Status StepHistory::CheckConfigure(int column) const {
  MutexLock lock(mu_);
  const absl::Status status =
      columns_[static_cast<size_t>(column)].cells->CheckConfigure();
  return status.ok() ? status : OfColumn(column, status);
}

void StepHistory::Configure(int column, const ColumnOptions& options,
                            int64_t window) {
  MutexLock lock(mu_);
  Column& changed = columns_[static_cast<size_t>(column)];
  changed.cells->Configure(options);
  changed.window = window;
  while (static_cast<int64_t>(changed.retained.size()) > window) {
    changed.retained.pop_front();
  }
}

absl::Status StepHistory::Check(absl::Span<const int> columns,
                                absl::Span<const TensorView> cells) const {
  MutexLock lock(mu_);
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto number = static_cast<size_t>(columns[i]);
    if (number >= columns_.size()) {
      if (absl::Status status = RowBuffer().Check(cells[i]); !status.ok()) {
        return OfColumn(columns[i], status);
      }
      continue;
    }
    const Column& column = columns_[number];
    if (step_is_open_ && column.last_step == steps_begun_) {
      return OfColumn(columns[i],
                      absl::InvalidArgumentError(
                          "it has been given a value in this step already"));
    }
    if (absl::Status status = column.cells->Check(cells[i]); !status.ok()) {
      return OfColumn(columns[i], status);
    }
  }
  return absl::OkStatus();
}

bool StepHistory::HasValueInOpenStep(int column) const {
  MutexLock lock(mu_);
  return step_is_open_ &&
         columns_[static_cast<size_t>(column)].last_step == steps_begun_;
}

void StepHistory::BeginStepLocked() {
  ++length_;
  ++steps_begun_;
  step_is_open_ = true;
  for (Column& column : columns_) {
    if (static_cast<int64_t>(column.retained.size()) >= column.window) {
      column.retained.pop_front();
    }
    column.retained.emplace_back();
  }
}

void StepHistory::Append(absl::Span<const int> columns,
                         absl::Span<const TensorView> cells,
                         bool partial_step) {
  MutexLock lock(mu_);
  if (!step_is_open_) BeginStepLocked();
  for (size_t i = 0; i < cells.size(); ++i) {
    Column& column = columns_[static_cast<size_t>(columns[i])];
    column.retained.back() = column.cells->Append(
        cells[i], episode_id_, static_cast<int32_t>(episode_steps_));
    column.last_step = steps_begun_;
  }
  if (partial_step) return;
  step_is_open_ = false;
  ++episode_steps_;
}

void StepHistory::EndEpisode(bool clear) {
  MutexLock lock(mu_);
  CloseBlocksLocked();
  step_is_open_ = false;
  episode_steps_ = 0;
  episode_id_ = RandomKey();
  if (!clear) return;
  length_ = 0;
  for (Column& column : columns_) {
    column.retained.clear();
    column.cells->Clear();
  }
}

void StepHistory::CloseBlocks() {
  MutexLock lock(mu_);
  CloseBlocksLocked();
}

void StepHistory::CloseBlocksLocked() {
  for (Column& column : columns_) column.cells->CloseBlock();
}

bool StepHistory::step_is_open() const {
  MutexLock lock(mu_);
  return step_is_open_;
}

int64_t StepHistory::episode_steps() const {
  MutexLock lock(mu_);
  return episode_steps_;
}

StepHistory::View StepHistory::view(int column) const {
  MutexLock lock(mu_);
  const Column& of = columns_[static_cast<size_t>(column)];
  return {.length = length_,
          .retained = static_cast<int64_t>(of.retained.size())};
}

CellRef StepHistory::At(int column, int64_t position) const {
  std::vector<CellRef> cells = Range(column, position, 1, 1);
  return cells.empty() ? CellRef() : cells[0];
}

std::vector<CellRef> StepHistory::Range(int column, int64_t start,
                                        int64_t count, int64_t step) const {
  MutexLock lock(mu_);
  const std::deque<CellRef>& retained =
      columns_[static_cast<size_t>(column)].retained;
  const int64_t first = length_ - static_cast<int64_t>(retained.size());
  std::vector<CellRef> cells;
  cells.reserve(static_cast<size_t>(count));
  for (int64_t i = 0, at = start - first; i < count; ++i, at += step) {
    // Another thread may have made the history shorter since the caller looked.
    const bool exists = at >= 0 && at < static_cast<int64_t>(retained.size());
    cells.push_back(exists ? retained[static_cast<size_t>(at)] : CellRef());
  }
  return cells;
}

CellSpec StepHistory::spec(int column) const {
  MutexLock lock(mu_);
  return columns_[static_cast<size_t>(column)].cells->spec();
}

std::vector<ChunkKey> StepHistory::TakeExpiredChunks() {
  std::vector<ChunkKey> keys;
  MutexLock lock(mu_);
  for (Column& column : columns_) {
    const std::vector<ChunkKey> more = column.cells->TakeExpiredChunks();
    keys.insert(keys.end(), more.begin(), more.end());
  }
  return keys;
}

}  // namespace reverb
