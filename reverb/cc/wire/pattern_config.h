// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a structured writer is told to make of the steps it gets, as records:
// the messages of proto/patterns.proto, which Python builds. They never travel.
//
// What is parsed is well formed, not yet sensible: see
// client/pattern_check.h.

#ifndef REVERB_CC_WIRE_PATTERN_CONFIG_H_
#define REVERB_CC_WIRE_PATTERN_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reverb {

// Some of the newest cells of a column. Steps are counted from the newest, -1.
struct PatternNode {
  int32_t column = 0;  // leaf of the flat step
  // With a start: `[start:stop:step]`, where no stop is 0 and no step is 1.
  // With a stop alone: one cell, without a time dimension.
  std::optional<int32_t> start = std::nullopt;
  std::optional<int32_t> stop = std::nullopt;
  std::optional<int32_t> step = std::nullopt;
};

// `left cmp value`.
struct PatternCondition {
  enum class Left {
    kNone,
    kStepIndex,
    kStepsSinceApplied,
    kBufferLength,
    kIsEndEpisode,
    kData,  // the newest value of `column`
  };
  enum class Cmp {
    kNone,
    kEq,     // left == value
    kGe,     // left >= value
    kModEq,  // left % mod == value
  };
  Left left = Left::kNone;
  int32_t column = 0;
  Cmp cmp = Cmp::kNone;
  int32_t value = 0;
  int32_t mod = 0;
  bool inverse = false;  // of the comparison
};

struct PatternPriority {
  enum class Kind {
    kNone,
    kConstant,  // `value`
    // `value` * max(abs(x)) + (1 - `value`) * mean(abs(x)), x being the item's
    // cells of `column`.
    kTdError,
  };
  Kind kind = Kind::kNone;
  double value = 0;
  int32_t column = 0;
};

// StructuredWriterConfig.
struct PatternConfig {
  std::vector<PatternNode> nodes;
  // The nesting of `nodes`: a StructuredValue. None: a flat list.
  std::optional<std::string> structure;
  std::string table;
  PatternPriority priority;
  std::vector<PatternCondition> conditions;  // all must hold
};

namespace wire {

// InvalidArgument for bytes that are no StructuredWriterConfig, or one with
// more than a million nodes or conditions.
absl::StatusOr<PatternConfig> ParsePatternConfig(absl::string_view message);

}  // namespace wire
}  // namespace reverb

#endif  // REVERB_CC_WIRE_PATTERN_CONFIG_H_
