// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/pattern_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "reverb/cc/support/error_info.h"

namespace reverb {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Cmp = PatternCondition::Cmp;
using Left = PatternCondition::Left;
using Kind = PatternPriority::Kind;

PatternConfig Config(PatternNode node) {
  PatternConfig config;
  config.table = "t";
  config.nodes = {node};
  config.priority = {.kind = Kind::kConstant, .value = 1};
  return config;
}

PatternConfig Config(PatternCondition condition) {
  PatternConfig config = Config(PatternNode{.stop = -1});
  config.conditions = {condition};
  return config;
}

absl::Status Check(const PatternConfig& config) {
  return CheckPatternConfigs({&config, 1});
}

TEST(CheckPatternConfigs, GoodNodesPass) {
  const PatternNode nodes[] = {
      {.start = -2},
      {.start = -2, .stop = 0},
      {.start = -2, .stop = -1},
      {.start = -5, .step = 2},
      {.start = -5, .stop = -1, .step = 7},
      {.stop = -1},
      {.column = std::numeric_limits<int32_t>::max(),
       .stop = std::numeric_limits<int32_t>::min()},
  };
  for (const PatternNode& node : nodes) {
    EXPECT_TRUE(Check(Config(node)).ok()) << Check(Config(node));
  }
}

TEST(CheckPatternConfigs, BadNodesAreRefused) {
  const struct {
    PatternNode node;
    const char* fault;
  } cases[] = {
      {{}, "a start or a stop is needed"},
      {{.step = 2}, "a start or a stop is needed"},
      {{.start = 1}, "must be < 0, not 1"},
      {{.start = 0}, "must be < 0, not 0"},
      {{.start = -2, .stop = 1}, "stop must be <= 0, not 1"},
      {{.start = -1, .stop = -2}, "start (-1) must be before stop (-2)"},
      {{.start = -2, .stop = -2}, "start (-2) must be before stop (-2)"},
      {{.stop = 0}, "must be < 0, not 0"},
      {{.stop = 3}, "must be < 0, not 3"},
      {{.stop = -2, .step = 2}, "a step (2) needs a start"},
      {{.start = -2, .step = 0}, "step must be > 0, not 0"},
      {{.start = -2, .step = -1}, "step must be > 0, not -1"},
      {{.column = -1, .stop = -1}, "flat_source_index must be >= 0, not -1"},
  };
  for (const auto& [node, fault] : cases) {
    const absl::Status status = Check(Config(node));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << fault;
    EXPECT_THAT(std::string(status.message()),
                StartsWith("configs[0], column 0 of the pattern: "));
    EXPECT_THAT(status.message(), HasSubstr(fault));
  }
}

TEST(CheckPatternConfigs, GoodConditionsPass) {
  const PatternCondition conditions[] = {
      {.left = Left::kStepIndex, .cmp = Cmp::kEq, .value = -3},
      {.left = Left::kStepsSinceApplied, .cmp = Cmp::kGe, .inverse = true},
      {.left = Left::kBufferLength, .cmp = Cmp::kModEq, .value = 5, .mod = 1},
      {.left = Left::kIsEndEpisode, .cmp = Cmp::kEq, .value = 1},
      {.left = Left::kData, .column = 8, .cmp = Cmp::kGe},
  };
  for (const PatternCondition& condition : conditions) {
    EXPECT_TRUE(Check(Config(condition)).ok()) << Check(Config(condition));
  }
}

TEST(CheckPatternConfigs, BadConditionsAreRefused) {
  const struct {
    PatternCondition condition;
    const char* fault;
  } cases[] = {
      {{.cmp = Cmp::kEq}, "no left side"},
      {{.left = Left::kStepIndex}, "compares with nothing"},
      {{.left = Left::kStepIndex, .cmp = Cmp::kModEq}, "> 0, not 0"},
      {{.left = Left::kStepIndex, .cmp = Cmp::kModEq, .mod = -2},
       "> 0, not -2"},
      {{.left = Left::kStepIndex, .cmp = Cmp::kModEq, .value = -1, .mod = 2},
       ">= 0, not -1"},
      {{.left = Left::kIsEndEpisode, .cmp = Cmp::kEq, .value = 0},
       "is_end_episode"},
      {{.left = Left::kIsEndEpisode, .cmp = Cmp::kGe, .value = 1},
       "is_end_episode"},
      {{.left = Left::kIsEndEpisode, .cmp = Cmp::kModEq, .value = 1, .mod = 2},
       "is_end_episode"},
      {{.left = Left::kIsEndEpisode,
        .cmp = Cmp::kEq,
        .value = 1,
        .inverse = true},
       "is_end_episode"},
      {{.left = Left::kData, .column = -1, .cmp = Cmp::kEq},
       "flat_source_index must be >= 0, not -1"},
  };
  for (const auto& [condition, fault] : cases) {
    const absl::Status status = Check(Config(condition));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << fault;
    EXPECT_THAT(std::string(status.message()),
                StartsWith("configs[0]: conditions[0]: "));
    EXPECT_THAT(status.message(), HasSubstr(fault));
  }
}

TEST(CheckPatternConfigs, TableAndPatternAreNeeded) {
  PatternConfig config = Config(PatternNode{.stop = -1});
  config.table.clear();
  EXPECT_THAT(Check(config).message(), HasSubstr("table has no name"));
  config.table = "t";
  config.nodes.clear();
  EXPECT_THAT(Check(config).message(), HasSubstr("pattern is empty"));
}

TEST(CheckPatternConfigs, APriorityMayBeMissingButIsANumber) {
  PatternConfig config = Config(PatternNode{.stop = -1});
  config.priority = {};
  EXPECT_TRUE(Check(config).ok());
  for (const Kind kind : {Kind::kConstant, Kind::kTdError}) {
    config.priority = {.kind = kind,
                       .value = std::numeric_limits<double>::quiet_NaN()};
    EXPECT_EQ(Check(config).code(), absl::StatusCode::kInvalidArgument);
    config.priority.value = -std::numeric_limits<double>::infinity();
    EXPECT_TRUE(Check(config).ok());
  }
}

TEST(CheckPatternConfigs, TheErrorSaysWhichConfig) {
  PatternConfig bad = Config(PatternNode{.stop = -1});
  bad.nodes.push_back({.start = 4});
  bad.table = "replay";
  const std::vector<PatternConfig> configs = {Config(PatternNode{.stop = -1}),
                                              bad};
  const absl::Status status = CheckPatternConfigs(configs);
  EXPECT_THAT(std::string(status.message()),
              StartsWith("configs[1], column 1 of the pattern: "));
  EXPECT_EQ(GetErrorInfo(status)->table, "replay");
  EXPECT_EQ(GetErrorInfo(status)->column, "1");
}

}  // namespace
}  // namespace reverb
