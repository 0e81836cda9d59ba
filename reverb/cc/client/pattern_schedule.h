// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Which configs of a structured writer make an item of the newest step of one
// environment. Semantics of spec/api.md sections 13.3 and 13.6.
//
// A condition that can't be evaluated doesn't hold, inverted or not.
//
// Units: steps; the open one, after a partial append, counts.
// Threads: thread-compatible.

#ifndef REVERB_CC_CLIENT_PATTERN_SCHEDULE_H_
#define REVERB_CC_CLIENT_PATTERN_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "reverb/cc/tensor/tensor.h"
#include "reverb/cc/wire/pattern_config.h"

namespace reverb {

// Steps that a pattern reaches back to; 1 is the newest alone.
int64_t PatternWindow(const PatternConfig& config);

// How conditions see a cell: one integer or bool, cut to 32 bits (2^32 is 0).
// None for floats, strings and what has not exactly one element.
std::optional<int32_t> ConditionValue(const TensorView& cell);

class PatternSchedule {
 public:
  using Configs = std::shared_ptr<const std::vector<PatternConfig>>;

  // The configs have passed `CheckPatternConfigs`. `max_buffer_length`: the
  // steps that are kept.
  PatternSchedule(Configs configs, int64_t max_buffer_length);

  // A new step becomes the newest; its columns have no values yet.
  void BeginStep();
  // What conditions see of a column in the newest step.
  void SetValue(int column, std::optional<int32_t> value);

  // Whether `config` is to make an item of the newest step, as far as its
  // conditions and the length of its pattern go. False once it has made one
  // of this step, and before the episode's first step.
  bool Wants(size_t config, bool ends_episode) const;
  void DidApply(size_t config);

  // `clear`: what was kept of the steps is gone.
  void EndEpisode(bool clear);

 private:
  struct State {
    int64_t steps_since_applied = 0;
    bool applied = false;  // to the newest step
  };
  struct Value {
    int column = 0;
    std::optional<int32_t> value;
  };

  bool Holds(const PatternCondition& condition, const State& state,
             bool ends_episode) const;

  const Configs configs_;
  const int64_t max_buffer_length_;
  std::vector<int64_t> windows_;  // per config
  std::vector<State> states_;     // per config
  std::vector<Value> values_;     // of the columns that conditions ask about
  int64_t episode_steps_ = 0;
  int64_t buffer_length_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_PATTERN_SCHEDULE_H_
