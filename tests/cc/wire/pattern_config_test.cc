// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/pattern_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tests/cc/wire/test_messages.h"

namespace reverb::wire {
namespace {

using ::testing::HasSubstr;
using Cmp = PatternCondition::Cmp;
using Left = PatternCondition::Left;
using Kind = PatternPriority::Kind;

PatternConfig Parse(const std::string& bytes) {
  absl::StatusOr<PatternConfig> config = ParsePatternConfig(bytes);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *std::move(config) : PatternConfig();
}

// What `fill` writes as a condition.
template <typename Fn>
PatternCondition ParseCondition(Fn&& fill) {
  const std::string condition = Message(fill);
  const PatternConfig config =
      Parse(Message([&](pbf_writer& out) { out.add_message(5, condition); }));
  EXPECT_EQ(config.conditions.size(), 1u);
  return config.conditions.empty() ? PatternCondition() : config.conditions[0];
}

template <typename Fn>
PatternPriority ParsePriority(Fn&& fill) {
  const std::string priority = Message(fill);
  return Parse(Message([&](pbf_writer& out) { out.add_message(4, priority); }))
      .priority;
}

TEST(PatternConfig, AllFieldsAreRead) {
  const std::string node = Message([](pbf_writer& out) {
    out.add_int32(1, 7);
    out.add_int32(2, -5);
    out.add_int32(3, 0);
    out.add_int32(4, 2);
  });
  const std::string single =
      Message([](pbf_writer& out) { out.add_int32(3, -1); });
  const PatternConfig config = Parse(Message([&](pbf_writer& out) {
    out.add_message(1, node);
    out.add_message(1, single);
    out.add_message(2, std::string("\x0a"));
    out.add_string(3, "table");
    out.add_message(2, std::string("\x00", 1));
  }));
  ASSERT_EQ(config.nodes.size(), 2u);
  EXPECT_EQ(config.nodes[0].column, 7);
  EXPECT_EQ(config.nodes[0].start, -5);
  EXPECT_EQ(config.nodes[0].stop, 0);
  EXPECT_EQ(config.nodes[0].step, 2);
  EXPECT_EQ(config.nodes[1].column, 0);
  EXPECT_EQ(config.nodes[1].start, std::nullopt);
  EXPECT_EQ(config.nodes[1].stop, -1);
  EXPECT_EQ(config.nodes[1].step, std::nullopt);
  EXPECT_EQ(config.table, "table");
  EXPECT_EQ(config.structure, std::string("\x0a\x00", 2));
  EXPECT_EQ(config.priority.kind, Kind::kNone);
  EXPECT_TRUE(config.conditions.empty());
}

TEST(PatternConfig, AbsentIsNotZero) {
  const PatternConfig config = Parse("");
  EXPECT_EQ(config.structure, std::nullopt);
  EXPECT_TRUE(config.nodes.empty());
  EXPECT_EQ(Parse(std::string("\x12\x00", 2)).structure, "");
}

TEST(PatternConfig, LeftSides) {
  const struct {
    uint32_t field;
    Left left;
  } cases[] = {{1, Left::kStepIndex},
               {2, Left::kStepsSinceApplied},
               {3, Left::kBufferLength},
               {4, Left::kIsEndEpisode}};
  for (const auto& [field, left] : cases) {
    const PatternCondition condition = ParseCondition([&](pbf_writer& out) {
      out.add_bool(field, true);
      out.add_int32(5, -2);
    });
    EXPECT_EQ(condition.left, left);
    EXPECT_EQ(condition.cmp, Cmp::kEq);
    EXPECT_EQ(condition.value, -2);
    EXPECT_FALSE(condition.inverse);
  }
  const PatternCondition data = ParseCondition([](pbf_writer& out) {
    out.add_int32(9, 3);
    out.add_int32(6, 4);
    out.add_bool(8, true);
  });
  EXPECT_EQ(data.left, Left::kData);
  EXPECT_EQ(data.column, 3);
  EXPECT_EQ(data.cmp, Cmp::kGe);
  EXPECT_EQ(data.value, 4);
  EXPECT_TRUE(data.inverse);
}

TEST(PatternConfig, TheLastMemberOfAOneofWins) {
  const std::string modulo = Message([](pbf_writer& out) {
    out.add_int32(1, 3);
    out.add_int32(2, 1);
  });
  PatternCondition condition = ParseCondition([&](pbf_writer& out) {
    out.add_bool(1, true);
    out.add_bool(4, true);
    out.add_message(7, modulo);
    out.add_int32(6, 9);
  });
  EXPECT_EQ(condition.left, Left::kIsEndEpisode);
  EXPECT_EQ(condition.cmp, Cmp::kGe);
  EXPECT_EQ(condition.value, 9);

  // The same message twice is one, unless another member came in between.
  const std::string mod = Message([](pbf_writer& out) { out.add_int32(1, 5); });
  const std::string eq = Message([](pbf_writer& out) { out.add_int32(2, 4); });
  condition = ParseCondition([&](pbf_writer& out) {
    out.add_int32(6, 9);
    out.add_message(7, mod);
    out.add_message(7, eq);
  });
  EXPECT_EQ(condition.cmp, Cmp::kModEq);
  EXPECT_EQ(condition.mod, 5);
  EXPECT_EQ(condition.value, 4);
  condition = ParseCondition([&](pbf_writer& out) {
    out.add_message(7, mod);
    out.add_int32(6, 9);
    out.add_message(7, eq);
  });
  EXPECT_EQ(condition.mod, 0);
  EXPECT_EQ(condition.value, 4);
}

TEST(PatternConfig, Priorities) {
  const std::string constant =
      Message([](pbf_writer& out) { out.add_double(1, 2.5); });
  const std::string weight =
      Message([](pbf_writer& out) { out.add_double(1, 0.75); });
  const std::string column =
      Message([](pbf_writer& out) { out.add_int32(2, 6); });

  PatternPriority priority =
      ParsePriority([&](pbf_writer& out) { out.add_message(1, constant); });
  EXPECT_EQ(priority.kind, Kind::kConstant);
  EXPECT_EQ(priority.value, 2.5);

  priority = ParsePriority([&](pbf_writer& out) {
    out.add_message(1, constant);
    out.add_message(2, weight);
    out.add_message(2, column);
  });
  EXPECT_EQ(priority.kind, Kind::kTdError);
  EXPECT_EQ(priority.value, 0.75);
  EXPECT_EQ(priority.column, 6);

  priority = ParsePriority([&](pbf_writer& out) {
    out.add_message(2, weight);
    out.add_message(1, std::string());
  });
  EXPECT_EQ(priority.kind, Kind::kConstant);
  EXPECT_EQ(priority.value, 0);
}

TEST(PatternConfig, MalformedBytesAreNamed) {
  const struct {
    std::string bytes;
    const char* message;
  } cases[] = {
      {"\x0a\xff", "StructuredWriterConfig"},
      {"\x0a\x01\x08", "PatternNode"},
      {"\x2a\x01\x08", "Condition"},
      {"\x2a\x03\x3a\x01\x08", "ModuloEq"},
      {"\x22\x01\x0a", "Priority"},
      {"\x22\x03\x0a\x01\x09", "ConstantPriorityFn"},
      {"\x22\x03\x12\x01\x09", "TDError"},
      {"\x1a\x01\xff", "UTF-8"},
  };
  for (const auto& [bytes, message] : cases) {
    const absl::Status status = ParsePatternConfig(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
}

TEST(PatternConfig, CountsAreBounded) {
  std::string nodes;
  std::string conditions;
  for (int i = 0; i <= 1'000'000; ++i) {
    nodes.append("\x0a\x00", 2);
    conditions.append("\x2a\x00", 2);
  }
  EXPECT_THAT(ParsePatternConfig(nodes).status().message(),
              HasSubstr("pattern nodes"));
  EXPECT_THAT(ParsePatternConfig(conditions).status().message(),
              HasSubstr("conditions"));
}

}  // namespace
}  // namespace reverb::wire
