// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/pattern_check.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

using Left = PatternCondition::Left;
using Cmp = PatternCondition::Cmp;

// Empty if there is nothing wrong.
std::string FaultOf(const PatternNode& node) {
  if (node.column < 0) {
    return absl::StrCat("flat_source_index must be >= 0, not ", node.column);
  }
  if (!node.start && !node.stop) {
    return "a start or a stop is needed, as in [-3:] or [-1]";
  }
  if (!node.start) {
    if (node.step) {
      return absl::StrCat("a step (", *node.step, ") needs a start");
    }
    if (*node.stop >= 0) {
      return absl::StrCat(
          "a single step is counted from the newest, -1, and must be < 0, not ",
          *node.stop);
    }
    return "";
  }
  if (*node.start >= 0) {
    return absl::StrCat(
        "start is counted from the newest step, -1, and must be < 0, not ",
        *node.start);
  }
  if (node.stop && *node.stop > 0) {
    return absl::StrCat("stop must be <= 0, not ", *node.stop);
  }
  if (node.stop && *node.start >= *node.stop) {
    return absl::StrCat("start (", *node.start, ") must be before stop (",
                        *node.stop, ")");
  }
  if (node.step && *node.step <= 0) {
    return absl::StrCat("step must be > 0, not ", *node.step);
  }
  return "";
}

std::string FaultOf(const PatternCondition& condition) {
  if (condition.left == Left::kNone) return "it has no left side";
  if (condition.cmp == Cmp::kNone) return "it compares with nothing";
  if (condition.cmp == Cmp::kModEq) {
    if (condition.mod <= 0) {
      return absl::StrCat("the modulus must be > 0, not ", condition.mod);
    }
    if (condition.value < 0) {
      return absl::StrCat("what % is compared with must be >= 0, not ",
                          condition.value);
    }
  }
  if (condition.left == Left::kIsEndEpisode &&
      (condition.cmp != Cmp::kEq || condition.value != 1 ||
       condition.inverse)) {
    return "is_end_episode can be compared with eq=1 only, without inverse";
  }
  if (condition.left == Left::kData && condition.column < 0) {
    return absl::StrCat("flat_source_index must be >= 0, not ",
                        condition.column);
  }
  return "";
}

absl::Status CheckConfig(const PatternConfig& config) {
  if (config.table.empty()) {
    return absl::InvalidArgumentError("the table has no name");
  }
  if (config.nodes.empty()) {
    return absl::InvalidArgumentError("the pattern is empty");
  }
  for (size_t i = 0; i < config.nodes.size(); ++i) {
    const std::string fault = FaultOf(config.nodes[i]);
    if (!fault.empty()) {
      return WithErrorInfo(absl::InvalidArgumentError(absl::StrCat(
                               "column ", i, " of the pattern: ", fault)),
                           {.column = absl::StrCat(i)});
    }
  }
  for (size_t i = 0; i < config.conditions.size(); ++i) {
    const std::string fault = FaultOf(config.conditions[i]);
    if (!fault.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("conditions[", i, "]: ", fault));
    }
  }
  // Whether there is a priority is looked at when the first item needs it.
  if (config.priority.kind != PatternPriority::Kind::kNone &&
      std::isnan(config.priority.value)) {
    return absl::InvalidArgumentError("the priority is not a number (NaN)");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPatternConfigs(absl::Span<const PatternConfig> configs) {
  for (size_t i = 0; i < configs.size(); ++i) {
    const absl::Status status = CheckConfig(configs[i]);
    if (status.ok()) continue;
    ErrorInfo info = GetErrorInfo(status).value_or(ErrorInfo{});
    info.table = configs[i].table;
    return WithErrorInfo(
        absl::InvalidArgumentError(
            absl::StrCat("configs[", i, "]", info.column.empty() ? ": " : ", ",
                         status.message())),
        info);
  }
  return absl::OkStatus();
}

}  // namespace reverb
