// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/structured_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/client/background.h"
#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/client/pattern_check.h"
#include "reverb/cc/client/rows.h"
#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/log.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/wire/structure.h"

namespace reverb {
namespace {

// The pattern's nesting, as items take it.
std::shared_ptr<const std::string> StructureOf(const PatternConfig& config) {
  if (!config.structure) return nullptr;
  const auto structure = wire::ParseStructure(*config.structure);
  if (!structure.ok()) return nullptr;
  std::string field = wire::StructureField(*structure);
  if (field.empty()) return nullptr;
  return std::make_shared<const std::string>(std::move(field));
}

void Mark(int column, std::vector<bool>& marks) {
  const auto at = static_cast<size_t>(column);
  if (marks.size() <= at) marks.resize(at + 1, false);
  marks[at] = true;
}

bool IsMarked(int column, const std::vector<bool>& marks) {
  const auto at = static_cast<size_t>(column);
  return at < marks.size() && marks[at];
}

template <typename T>
void AddErrors(const Tensor& tensor, std::vector<double>& values) {
  for (size_t at = 0; at + sizeof(T) <= tensor.data.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, tensor.data.data() + at, sizeof(T));
    values.push_back(std::abs(static_cast<double>(value)));
  }
}

// The absolute values of cells that are scalars.
absl::StatusOr<std::vector<double>> AbsoluteValues(
    absl::Span<const CellRef> cells) {
  const CellSpec& spec = cells[0].block->column().spec();
  const absl::Status unfit = absl::InvalidArgumentError(absl::StrCat(
      "the errors that td_error takes must be scalars of float32, float64, "
      "int32 or int64, got ",
      DTypeName(spec.dtype), " ", ShapeString(spec.dims)));
  if (!spec.dims.empty()) return unfit;
  REVERB_ASSIGN_OR_RETURN(const Tensor tensor, StackCells(cells));
  std::vector<double> values;
  switch (spec.dtype) {
    case DType::kFloat32:
      AddErrors<float>(tensor, values);
      break;
    case DType::kFloat64:
      AddErrors<double>(tensor, values);
      break;
    case DType::kInt32:
      AddErrors<int32_t>(tensor, values);
      break;
    case DType::kInt64:
      AddErrors<int64_t>(tensor, values);
      break;
    default:
      return unfit;
  }
  return values;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StructuredWriter>> StructuredWriter::Create(
    std::vector<PatternConfig> configs, std::shared_ptr<Endpoint> endpoint) {
  REVERB_RETURN_IF_ERROR(CheckPatternConfigs(configs));
  return std::unique_ptr<StructuredWriter>(new StructuredWriter(
      std::make_shared<const std::vector<PatternConfig>>(std::move(configs)),
      std::move(endpoint)));
}

StructuredWriter::StructuredWriter(Configs configs,
                                   std::shared_ptr<Endpoint> endpoint)
    : configs_(std::move(configs)),
      endpoint_(std::move(endpoint)),
      queue_(InsertStream::Create(endpoint_), std::nullopt) {
  for (const PatternConfig& config : *configs_) {
    window_ = std::max(window_, PatternWindow(config));
    structures_.push_back(StructureOf(config));
    for (const PatternNode& node : config.nodes) Mark(node.column, used_);
    for (const PatternCondition& condition : config.conditions) {
      if (condition.left != PatternCondition::Left::kData) continue;
      Mark(condition.column, used_);
      Mark(condition.column, is_condition_);
    }
  }
  history_column_.resize(used_.size(), -1);
  environments_.push_back(NewEnvironment());
}

StructuredWriter::~StructuredWriter() {
  if (InForkedChildOfGrpcUser()) return;
  queue_.CloseOldest(0);
  if (absl::Status status = Send(); !status.ok()) {
    LogWarning(absl::StrCat("items of a writer that was dropped could not be ",
                            "inserted: ", status.message()));
  }
  if (queue_.num_pending() > 0 && queue_.status().ok()) {
    FinishInBackground(*endpoint_, queue_.stream());
  } else {
    queue_.Close();
  }
}

StructuredWriter::Environment StructuredWriter::NewEnvironment() {
  return {.steps = std::make_shared<StepHistory>(),
          .schedule = PatternSchedule(configs_, window_)};
}

bool StructuredWriter::uses(int column) const {
  return IsMarked(column, used_);
}

int64_t StructuredWriter::num_envs() const {
  return mode_ == Mode::kBatch ? static_cast<int64_t>(environments_.size()) : 0;
}

absl::Status StructuredWriter::CheckUsable() const {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  return queue_.CheckRoom();
}

std::vector<int> StructuredWriter::ToHistory(absl::Span<const int> columns) {
  std::vector<int> numbers;
  numbers.reserve(columns.size());
  for (const int column : columns) {
    int& number = history_column_[static_cast<size_t>(column)];
    if (number < 0) {
      number = num_history_columns_++;
      for (Environment& environment : environments_) {
        environment.steps->AddColumn({.num_keep_alive_refs = window_}, window_);
      }
    }
    numbers.push_back(number);
  }
  return numbers;
}

absl::Status StructuredWriter::CheckCells(
    const Environment& environment, absl::Span<const int> columns,
    absl::Span<const TensorView> cells) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    const int number = history_column_[static_cast<size_t>(columns[i])];
    // No history has the column yet: whatever is beyond those there are.
    const int known = number < 0 ? num_history_columns_ : number;
    if (number >= 0 && environment.steps->HasValueInOpenStep(number)) {
      const std::string column = absl::StrCat(columns[i]);
      return WithErrorInfo(
          absl::FailedPreconditionError(
              absl::StrCat("column ", column,
                           ": it has been given a value in this step already")),
          {.column = column});
    }
    absl::Status status = environment.steps->Check(
        absl::MakeConstSpan(&known, 1), absl::MakeConstSpan(&cells[i], 1));
    if (status.ok()) continue;
    ErrorInfo info = GetErrorInfo(status).value_or(ErrorInfo());
    info.column = absl::StrCat(columns[i]);
    return WithErrorInfo(std::move(status), info);
  }
  return absl::OkStatus();
}

void StructuredWriter::WarnOfValue(int column) {
  if (!warned_.insert(column).second) return;
  LogWarning(absl::StrCat(
      "a condition asks for the value of column ", column,
      " of the steps, which is not one integer or bool: it doesn't hold"));
}

void StructuredWriter::AppendTo(Environment& environment,
                                absl::Span<const int> columns,
                                absl::Span<const TensorView> cells,
                                bool partial_step) {
  if (!environment.steps->step_is_open()) environment.schedule.BeginStep();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!IsMarked(columns[i], is_condition_)) continue;
    const auto value = ConditionValue(cells[i]);
    if (!value) WarnOfValue(columns[i]);
    environment.schedule.SetValue(columns[i], value);
  }
  environment.steps->Append(ToHistory(columns), cells, partial_step);
}

absl::Status StructuredWriter::Append(absl::Span<const int> columns,
                                      absl::Span<const TensorView> cells,
                                      bool partial_step) {
  REVERB_RETURN_IF_ERROR(CheckUsable());
  if (mode_ == Mode::kBatch) {
    return absl::FailedPreconditionError(
        "append can't follow append_batch: a writer has one environment or a "
        "batch of them");
  }
  Environment& environment = environments_[0];
  REVERB_RETURN_IF_ERROR(CheckCells(environment, columns, cells));
  mode_ = Mode::kSingle;
  AppendTo(environment, columns, cells, partial_step);
  absl::Status status;
  if (!columns.empty()) status = MakeItems(environment, false);
  REVERB_RETURN_IF_ERROR(Send());
  return status;
}

absl::Status StructuredWriter::AppendBatch(
    absl::Span<const int> columns, absl::Span<const TensorView> batch,
    int64_t num_envs, absl::Span<const bool> episode_ends) {
  REVERB_RETURN_IF_ERROR(CheckUsable());
  if (mode_ == Mode::kSingle) {
    return absl::FailedPreconditionError(
        "append_batch can't follow append: a writer has one environment or a "
        "batch of them");
  }
  const auto count = static_cast<size_t>(std::max<int64_t>(num_envs, 1));
  if (num_envs < 1 ||
      (mode_ == Mode::kBatch && count != environments_.size())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the batch has ", num_envs, " environments, ",
        num_envs < 1
            ? "there must be one at least"
            : absl::StrCat("the first one had ", environments_.size())));
  }
  REVERB_RETURN_IF_ERROR(CheckBatch(columns, batch, num_envs));
  std::vector<TensorView> row;
  for (size_t i = 0; i < count; ++i) {
    RowOf(batch, static_cast<int64_t>(i), row);
    REVERB_RETURN_IF_ERROR(CheckCells(
        environments_[std::min(i, environments_.size() - 1)], columns, row));
  }
  mode_ = Mode::kBatch;
  while (environments_.size() < count) {
    environments_.push_back(NewEnvironment());
  }
  absl::Status status;
  for (size_t i = 0; i < count; ++i) {
    Environment& environment = environments_[i];
    RowOf(batch, static_cast<int64_t>(i), row);
    AppendTo(environment, columns, row, false);
    if (!columns.empty()) status.Update(MakeItems(environment, false));
    if (episode_ends.empty() || !episode_ends[i]) continue;
    status.Update(MakeItems(environment, true));
    environment.steps->EndEpisode(true);
    environment.schedule.EndEpisode(true);
  }
  REVERB_RETURN_IF_ERROR(Send());
  return status;
}

bool StructuredWriter::Select(const Environment& environment,
                              const PatternNode& node,
                              Selected& selected) const {
  const auto column = static_cast<size_t>(node.column);
  const int number = history_column_[column];
  if (number < 0) return false;
  const int64_t length = environment.steps->view(number).length;
  const int64_t start = node.start ? *node.start : node.stop.value_or(-1);
  const int64_t step = node.step.value_or(1);
  const int64_t stop = node.start ? node.stop.value_or(0) : start + 1;
  selected.squeeze = !node.start;
  selected.cells = environment.steps->Range(
      number, length + start, (stop - start + step - 1) / step, step);
  return std::all_of(selected.cells.begin(), selected.cells.end(),
                     [](const CellRef& cell) { return cell; });
}

absl::StatusOr<double> StructuredWriter::PriorityOf(
    const PatternConfig& config, absl::Span<const Selected> columns) {
  switch (config.priority.kind) {
    case PatternPriority::Kind::kNone:
      return absl::InvalidArgumentError("the config has no priority");
    case PatternPriority::Kind::kConstant:
      return config.priority.value;
    case PatternPriority::Kind::kTdError:
      break;
  }
  const Selected* errors = nullptr;  // the last one counts
  for (size_t i = 0; i < columns.size(); ++i) {
    if (config.nodes[i].column == config.priority.column) errors = &columns[i];
  }
  if (errors == nullptr) return 0.0;
  REVERB_ASSIGN_OR_RETURN(const std::vector<double> values,
                          AbsoluteValues(errors->cells));
  double sum = 0;
  double max = 0;
  for (const double value : values) {
    sum += value;
    if (!(value <= max)) max = value;  // a NaN is not lost
  }
  const double weight = config.priority.value;
  return weight * max +
         (1 - weight) * (sum / static_cast<double>(values.size()));
}

absl::Status StructuredWriter::MakeItems(Environment& environment,
                                         bool ends_episode) {
  absl::Status first_error;
  for (size_t i = 0; i < configs_->size(); ++i) {
    if (!environment.schedule.Wants(i, ends_episode)) continue;
    const PatternConfig& config = (*configs_)[i];
    std::vector<Selected> selected(config.nodes.size());
    bool complete = true;
    for (size_t j = 0; complete && j < selected.size(); ++j) {
      complete = Select(environment, config.nodes[j], selected[j]);
    }
    if (!complete) continue;
    environment.schedule.DidApply(i);
    absl::StatusOr<double> priority = PriorityOf(config, selected);
    if (priority.ok()) {
      const absl::Status status =
          CheckPriorityIsNumber(config.table, *priority);
      if (!status.ok()) priority = status;
    }
    if (!priority.ok()) {
      first_error.Update(WithErrorInfo(
          absl::Status(priority.status().code(),
                       absl::StrCat("configs[", i, "], table '", config.table,
                                    "': ", priority.status().message())),
          {.table = config.table}));
      continue;
    }
    std::vector<ItemColumn> columns;
    columns.reserve(selected.size());
    for (const Selected& column : selected) {
      columns.push_back({.cells = column.cells, .squeeze = column.squeeze});
    }
    queue_.Add(config.table, *priority, columns, structures_[i]);
  }
  return first_error;
}

absl::Status StructuredWriter::Send() {
  if (!queue_.can_send()) return absl::OkStatus();
  std::vector<std::shared_ptr<StepHistory>> histories;
  histories.reserve(environments_.size());
  for (const Environment& environment : environments_) {
    histories.push_back(environment.steps);
  }
  return queue_.Send(histories);
}

absl::Status StructuredWriter::Flush(int64_t max_pending,
                                     const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckUsable());
  queue_.CloseOldest(max_pending);
  REVERB_RETURN_IF_ERROR(Send());
  return queue_.Await(max_pending, wait);
}

absl::Status StructuredWriter::EndEpisode(int environment, bool clear,
                                          const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckUsable());
  const auto concerns = [environment](size_t i) {
    return environment < 0 || static_cast<size_t>(environment) == i;
  };
  absl::Status status;
  for (size_t i = 0; i < environments_.size(); ++i) {
    if (concerns(i)) status.Update(MakeItems(environments_[i], true));
  }
  REVERB_RETURN_IF_ERROR(Flush(0, wait));
  for (size_t i = 0; i < environments_.size(); ++i) {
    if (!concerns(i)) continue;
    environments_[i].steps->EndEpisode(clear);
    environments_[i].schedule.EndEpisode(clear);
  }
  return status;
}

}  // namespace reverb
