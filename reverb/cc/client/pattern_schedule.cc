// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/pattern_schedule.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace reverb {
namespace {

using Left = PatternCondition::Left;
using Cmp = PatternCondition::Cmp;

// The element as a T, cut to 32 bits.
template <typename T>
std::optional<int32_t> CutTo32(const TensorView& cell) {
  if (cell.data.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, cell.data.data(), sizeof(T));
  return static_cast<int32_t>(value);
}

bool Compare(const PatternCondition& condition, int64_t left) {
  switch (condition.cmp) {
    case Cmp::kNone:
      return false;
    case Cmp::kEq:
      return left == condition.value;
    case Cmp::kGe:
      return left >= condition.value;
    case Cmp::kModEq:
      return left % condition.mod == condition.value;  // the sign is left's
  }
  return false;
}

}  // namespace

int64_t PatternWindow(const PatternConfig& config) {
  int64_t window = 1;
  for (const PatternNode& node : config.nodes) {
    const int64_t oldest = node.start ? *node.start : node.stop.value_or(-1);
    window = std::max(window, -oldest);
  }
  return window;
}

std::optional<int32_t> ConditionValue(const TensorView& cell) {
  if (NumElements(cell.dims) != 1) return std::nullopt;
  switch (cell.dtype) {
    case DType::kBool:
    case DType::kUint8:
    case DType::kUint4:
      return CutTo32<uint8_t>(cell);
    case DType::kInt8:
    case DType::kInt4:
      return CutTo32<int8_t>(cell);
    case DType::kInt16:
      return CutTo32<int16_t>(cell);
    case DType::kUint16:
      return CutTo32<uint16_t>(cell);
    case DType::kInt32:
      return CutTo32<int32_t>(cell);
    case DType::kUint32:
      return CutTo32<uint32_t>(cell);
    case DType::kInt64:
      return CutTo32<int64_t>(cell);
    case DType::kUint64:
      return CutTo32<uint64_t>(cell);
    default:
      return std::nullopt;
  }
}

PatternSchedule::PatternSchedule(Configs configs, int64_t max_buffer_length)
    : configs_(std::move(configs)),
      max_buffer_length_(max_buffer_length),
      states_(configs_->size()) {
  for (const PatternConfig& config : *configs_) {
    windows_.push_back(PatternWindow(config));
    for (const PatternCondition& condition : config.conditions) {
      if (condition.left != Left::kData) continue;
      const bool known = std::any_of(
          values_.begin(), values_.end(),
          [&](const Value& v) { return v.column == condition.column; });
      if (!known) values_.push_back({condition.column, std::nullopt});
    }
  }
}

void PatternSchedule::BeginStep() {
  ++episode_steps_;
  buffer_length_ = std::min(buffer_length_ + 1, max_buffer_length_);
  for (State& state : states_) {
    ++state.steps_since_applied;
    state.applied = false;
  }
  for (Value& value : values_) value.value.reset();
}

void PatternSchedule::SetValue(int column, std::optional<int32_t> value) {
  for (Value& known : values_) {
    if (known.column == column) known.value = value;
  }
}

bool PatternSchedule::Wants(size_t config, bool ends_episode) const {
  const State& state = states_[config];
  if (state.applied || episode_steps_ == 0 ||
      buffer_length_ < windows_[config]) {
    return false;
  }
  for (const PatternCondition& condition : (*configs_)[config].conditions) {
    if (!Holds(condition, state, ends_episode)) return false;
  }
  return true;
}

bool PatternSchedule::Holds(const PatternCondition& condition,
                            const State& state, bool ends_episode) const {
  int64_t left = 0;
  switch (condition.left) {
    case Left::kNone:
      return false;
    case Left::kStepIndex:
      left = episode_steps_ - 1;
      break;
    case Left::kStepsSinceApplied:
      left = state.steps_since_applied;
      break;
    case Left::kBufferLength:
      left = buffer_length_;
      break;
    case Left::kIsEndEpisode:
      left = ends_episode ? 1 : 0;
      break;
    case Left::kData: {
      const auto known = std::find_if(
          values_.begin(), values_.end(),
          [&](const Value& v) { return v.column == condition.column; });
      if (known == values_.end() || !known->value) return false;
      left = *known->value;
      break;
    }
  }
  return Compare(condition, left) != condition.inverse;
}

void PatternSchedule::DidApply(size_t config) {
  states_[config] = {.steps_since_applied = 0, .applied = true};
}

void PatternSchedule::EndEpisode(bool clear) {
  episode_steps_ = 0;
  if (clear) buffer_length_ = 0;
}

}  // namespace reverb
