// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/pattern_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Cmp = PatternCondition::Cmp;
using Left = PatternCondition::Left;

constexpr int64_t kKept = 100;

PatternConfig Config(std::vector<PatternCondition> conditions,
                     PatternNode node = {.stop = -1}) {
  PatternConfig config;
  config.nodes = {node};
  config.conditions = std::move(conditions);
  return config;
}

PatternSchedule Schedule(std::vector<PatternConfig> configs,
                         int64_t kept = kKept) {
  return PatternSchedule(
      std::make_shared<const std::vector<PatternConfig>>(std::move(configs)),
      kept);
}

// The steps, of `count`, in which config 0 makes an item.
std::vector<int> AppliesAt(PatternSchedule& schedule, int count) {
  std::vector<int> steps;
  for (int i = 0; i < count; ++i) {
    schedule.BeginStep();
    if (!schedule.Wants(0, false)) continue;
    schedule.DidApply(0);
    steps.push_back(i);
  }
  return steps;
}

std::vector<int> AppliesAt(PatternCondition condition, int count) {
  PatternSchedule schedule = Schedule({Config({condition})});
  return AppliesAt(schedule, count);
}

TEST(PatternSchedule, ComparisonsOfTheStepIndex) {
  const Left left = Left::kStepIndex;
  EXPECT_THAT(AppliesAt({.left = left, .cmp = Cmp::kEq, .value = 2}, 5),
              ElementsAre(2));
  EXPECT_THAT(AppliesAt({.left = left, .cmp = Cmp::kGe, .value = 2}, 5),
              ElementsAre(2, 3, 4));
  EXPECT_THAT(
      AppliesAt({.left = left, .cmp = Cmp::kModEq, .value = 1, .mod = 3}, 8),
      ElementsAre(1, 4, 7));
  EXPECT_THAT(
      AppliesAt({.left = left, .cmp = Cmp::kEq, .value = 2, .inverse = true},
                5),
      ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(
      AppliesAt({.left = left, .cmp = Cmp::kGe, .value = 2, .inverse = true},
                5),
      ElementsAre(0, 1));
  EXPECT_THAT(AppliesAt({.left = left,
                         .cmp = Cmp::kModEq,
                         .value = 0,
                         .mod = 2,
                         .inverse = true},
                        6),
              ElementsAre(1, 3, 5));
  EXPECT_THAT(
      AppliesAt({.left = left, .cmp = Cmp::kModEq, .value = 3, .mod = 3}, 8),
      IsEmpty());
}

TEST(PatternSchedule, StepsSinceAppliedCountFromOne) {
  EXPECT_THAT(
      AppliesAt({.left = Left::kStepsSinceApplied, .cmp = Cmp::kGe, .value = 3},
                10),
      ElementsAre(2, 5, 8));
  EXPECT_THAT(
      AppliesAt({.left = Left::kStepsSinceApplied, .cmp = Cmp::kEq, .value = 1},
                3),
      ElementsAre(0, 1, 2));
}

TEST(PatternSchedule, StepsSinceAppliedGoOnOverEpisodes) {
  PatternSchedule schedule = Schedule({Config(
      {{.left = Left::kStepsSinceApplied, .cmp = Cmp::kGe, .value = 3}})});
  EXPECT_THAT(AppliesAt(schedule, 2), IsEmpty());
  schedule.EndEpisode(true);
  EXPECT_THAT(AppliesAt(schedule, 5), ElementsAre(0, 3));
}

TEST(PatternSchedule, StepIndexStartsAnewWithAnEpisode) {
  for (const bool clear : {false, true}) {
    PatternSchedule schedule = Schedule(
        {Config({{.left = Left::kStepIndex, .cmp = Cmp::kEq, .value = 1}})});
    EXPECT_THAT(AppliesAt(schedule, 4), ElementsAre(1));
    schedule.EndEpisode(clear);
    EXPECT_THAT(AppliesAt(schedule, 4), ElementsAre(1));
  }
}

TEST(PatternSchedule, PatternsWaitForTheirOldestStep) {
  PatternSchedule schedule = Schedule({Config({}, {.start = -3, .stop = -1})});
  EXPECT_THAT(AppliesAt(schedule, 5), ElementsAre(2, 3, 4));
  schedule.EndEpisode(false);
  EXPECT_THAT(AppliesAt(schedule, 2), ElementsAre(0, 1));
  schedule.EndEpisode(true);
  EXPECT_THAT(AppliesAt(schedule, 4), ElementsAre(2, 3));
}

TEST(PatternSchedule, TheBufferIsNeverLongerThanWhatIsKept) {
  const PatternCondition at_least = {.left = Left::kBufferLength,
                                     .cmp = Cmp::kGe};
  for (const auto& [value, expected] :
       std::vector<std::pair<int32_t, std::vector<int>>>{
           {2, {1, 2, 3, 4}}, {3, {2, 3, 4}}, {4, {}}}) {
    PatternCondition condition = at_least;
    condition.value = value;
    PatternSchedule schedule = Schedule({Config({condition})}, 3);
    EXPECT_EQ(AppliesAt(schedule, 5), expected);
  }
}

TEST(PatternSchedule, AllConditionsMustHold) {
  PatternSchedule schedule =
      Schedule({Config({{.left = Left::kStepIndex, .cmp = Cmp::kGe, .value = 2},
                        {.left = Left::kStepIndex,
                         .cmp = Cmp::kGe,
                         .value = 4,
                         .inverse = true}})});
  EXPECT_THAT(AppliesAt(schedule, 6), ElementsAre(2, 3));
}

TEST(PatternSchedule, TheEndOfAnEpisodeIsAskedAboutOnce) {
  PatternSchedule schedule = Schedule(
      {Config({{.left = Left::kIsEndEpisode, .cmp = Cmp::kEq, .value = 1}}),
       Config({})});
  EXPECT_FALSE(schedule.Wants(0, true)) << "there is no step yet";
  schedule.BeginStep();
  EXPECT_FALSE(schedule.Wants(0, false));
  EXPECT_TRUE(schedule.Wants(1, false));
  schedule.DidApply(1);
  EXPECT_TRUE(schedule.Wants(0, true));
  EXPECT_FALSE(schedule.Wants(1, true)) << "it has applied to this step";
  schedule.DidApply(0);
  EXPECT_FALSE(schedule.Wants(0, true));
  schedule.EndEpisode(false);
  EXPECT_FALSE(schedule.Wants(0, true));
  EXPECT_FALSE(schedule.Wants(1, true));
}

TEST(PatternSchedule, AStepGetsOneItemOfAConfig) {
  PatternSchedule schedule = Schedule({Config({})});
  schedule.BeginStep();
  EXPECT_TRUE(schedule.Wants(0, false));
  schedule.DidApply(0);
  EXPECT_FALSE(schedule.Wants(0, false));
  schedule.BeginStep();
  EXPECT_TRUE(schedule.Wants(0, false));
}

TEST(PatternSchedule, DataConditionsSeeTheNewestStep) {
  PatternSchedule schedule = Schedule(
      {Config(
           {{.left = Left::kData, .column = 3, .cmp = Cmp::kEq, .value = 7}}),
       Config({{.left = Left::kData,
                .column = 3,
                .cmp = Cmp::kEq,
                .value = 7,
                .inverse = true}})});
  schedule.BeginStep();
  EXPECT_FALSE(schedule.Wants(0, false)) << "there is no value";
  EXPECT_FALSE(schedule.Wants(1, false)) << "inverted or not";
  schedule.SetValue(4, 7);  // nobody asks about it
  EXPECT_FALSE(schedule.Wants(0, false));
  schedule.SetValue(3, 7);
  EXPECT_TRUE(schedule.Wants(0, false));
  EXPECT_FALSE(schedule.Wants(1, false));
  schedule.BeginStep();
  EXPECT_FALSE(schedule.Wants(0, false)) << "that was the step before";
  schedule.SetValue(3, 8);
  EXPECT_FALSE(schedule.Wants(0, false));
  EXPECT_TRUE(schedule.Wants(1, false));
  schedule.SetValue(3, std::nullopt);
  EXPECT_FALSE(schedule.Wants(1, false));
}

TEST(PatternSchedule, TheRemainderHasTheSignOfTheValue) {
  PatternSchedule schedule = Schedule({Config(
      {{.left = Left::kData, .cmp = Cmp::kModEq, .value = 1, .mod = 2}})});
  schedule.BeginStep();
  schedule.SetValue(0, 3);
  EXPECT_TRUE(schedule.Wants(0, false));
  schedule.SetValue(0, -3);
  EXPECT_FALSE(schedule.Wants(0, false));
}

template <typename T>
std::optional<int32_t> ValueOf(DType dtype, std::vector<T> values,
                               const std::vector<int64_t>& dims = {}) {
  return ConditionValue(Column(dtype, dims, std::move(values)).view());
}

TEST(ConditionValue, IntegersAreCutTo32Bits) {
  EXPECT_EQ(ValueOf<int8_t>(DType::kInt8, {-5}), -5);
  EXPECT_EQ(ValueOf<uint8_t>(DType::kUint8, {200}), 200);
  EXPECT_EQ(ValueOf<uint8_t>(DType::kBool, {1}), 1);
  EXPECT_EQ(ValueOf<int8_t>(DType::kInt4, {-8}), -8);
  EXPECT_EQ(ValueOf<uint8_t>(DType::kUint4, {15}), 15);
  EXPECT_EQ(ValueOf<int16_t>(DType::kInt16, {-300}), -300);
  EXPECT_EQ(ValueOf<uint16_t>(DType::kUint16, {60000}), 60000);
  EXPECT_EQ(ValueOf<int32_t>(DType::kInt32, {-70000}), -70000);
  EXPECT_EQ(ValueOf<uint32_t>(DType::kUint32, {4294967295}), -1);
  EXPECT_EQ(ValueOf<int64_t>(DType::kInt64, {int64_t{1} << 32}), 0);
  EXPECT_EQ(ValueOf<int64_t>(DType::kInt64, {-1}), -1);
  EXPECT_EQ(
      ValueOf<uint64_t>(DType::kUint64, {std::numeric_limits<uint64_t>::max()}),
      -1);
}

TEST(ConditionValue, OneElementIsEnough) {
  EXPECT_EQ(ValueOf<int32_t>(DType::kInt32, {9}, {1}), 9);
  EXPECT_EQ(ValueOf<int32_t>(DType::kInt32, {9}, {1, 1}), 9);
}

TEST(ConditionValue, OthersHaveNone) {
  EXPECT_EQ(ValueOf<int32_t>(DType::kInt32, {9, 9}, {2}), std::nullopt);
  EXPECT_EQ(ValueOf<int32_t>(DType::kInt32, {}, {0}), std::nullopt);
  EXPECT_EQ(ValueOf<float>(DType::kFloat32, {1}), std::nullopt);
  EXPECT_EQ(ValueOf<double>(DType::kFloat64, {1}), std::nullopt);
  EXPECT_EQ(ConditionValue(Column::Strings({}, {"1"}).view()), std::nullopt);
}

TEST(PatternWindow, IsThatOfTheOldestStep) {
  PatternConfig config = Config({}, {.stop = -1});
  EXPECT_EQ(PatternWindow(config), 1);
  config.nodes.push_back({.start = -4, .stop = -2});
  config.nodes.push_back({.stop = -3});
  EXPECT_EQ(PatternWindow(config), 4);
  config.nodes.push_back({.stop = std::numeric_limits<int32_t>::min()});
  EXPECT_EQ(PatternWindow(config), int64_t{1} << 31);
}

}  // namespace
}  // namespace reverb
