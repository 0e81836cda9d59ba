// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The unary calls' messages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "reverb/cc/wire/messages.h"
#include "tests/cc/wire/test_messages.h"

namespace reverb::wire {
namespace {

using ::testing::ElementsAre;

TEST(MutateRequest, ComesBack) {
  MutateMessage message;
  message.table = "table";
  message.updates = {{1, 0.0}, {0, -0.0}, {7, 2.5}};
  message.deletes = {std::numeric_limits<uint64_t>::max(), 0};
  const auto parsed = ParseMutateRequest(BuildMutateRequest(message));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->table, "table");
  ASSERT_EQ(parsed->updates.size(), 3u);
  EXPECT_EQ(parsed->updates[2].key, 7u);
  EXPECT_EQ(parsed->updates[2].priority, 2.5);
  EXPECT_EQ(parsed->deletes, message.deletes);
}

TEST(MutateRequest, RefusesWhatKilledDmReverb) {
  EXPECT_FALSE(ParseMutateRequest("\x0a\xff").ok());
  EXPECT_FALSE(ParseMutateRequest("\x0a\x01\xff").ok());
  EXPECT_FALSE(ParseMutateRequest("\x1a\x01\xff").ok());
  EXPECT_FALSE(ParseResetRequest("\x0a\xff").ok());
  EXPECT_FALSE(ParseResetRequest("\x0a\x01\xff").ok());
  EXPECT_FALSE(CheckEmptyRequest("\x0a\xff").ok());
  EXPECT_FALSE(CheckInitializeConnectionRequest("\x12\x01\xff").ok());
}

TEST(ResetRequest, ComesBackAndTheLastNameWins) {
  EXPECT_EQ(*ParseResetRequest(BuildResetRequest("t")), "t");
  EXPECT_EQ(*ParseResetRequest(""), "");
  EXPECT_EQ(*ParseResetRequest("\x0a\x01"
                               "a\x0a\x01"
                               "b"),
            "b");
}

TEST(EmptyRequest, MayHaveUnknownFields) {
  EXPECT_TRUE(CheckEmptyRequest("").ok());
  EXPECT_TRUE(CheckEmptyRequest("\x0a\x01x\x10\x01").ok());
}

Table::Info TestInfo() {
  Table::Info info;
  info.name = "queue";
  info.sampler.kind = SelectorOptions::Kind::kFifo;
  info.remover.kind = SelectorOptions::Kind::kMaxHeap;
  info.max_size = 10;
  info.max_times_sampled = -1;
  info.rate_limiter.samples_per_insert = 1;
  info.rate_limiter.min_diff = 0;
  info.rate_limiter.max_diff = 10;
  info.rate_limiter.min_size_to_sample = 1;
  return info;
}

TEST(TableInfo, WritesEmptyMessagesAsDmReverbDoes) {
  EXPECT_EQ(
      BuildTableInfo(TestInfo()),
      std::string(
          "\x0a\x04\x08\x01\x38\x01"  // fifo, deterministic
          "\x12\x04\x22\x00\x38\x01"  // heap with the largest first
          "\x18\x0a"                  // max_size
          "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"  // max_times_sampled
          "\x2a\x18\x09\x00\x00\x00\x00\x00\x00\xf0\x3f"
          "\x19\x00\x00\x00\x00\x00\x00\x24\x40\x20\x01"
          "\x2a\x00\x32\x00"        // insert_stats, sample_stats
          "\x42\x05queue\x62\x00",  // name, table_worker_time
          60));
}

// The tables of the recorded server, as it was before anything happened.
std::vector<Table::Info> RecordedTables(const std::string& signature) {
  using Kind = SelectorOptions::Kind;
  constexpr double kMax = std::numeric_limits<double>::max();
  auto make = [](const char* name, Kind sampler, Kind remover, int64_t max_size,
                 int32_t max_times_sampled, RateLimiter::Options limiter,
                 int64_t sleeping_ms) {
    Table::Info info;
    info.name = name;
    info.sampler.kind = sampler;
    info.remover.kind = remover;
    info.max_size = max_size;
    info.max_times_sampled = max_times_sampled;
    info.rate_limiter = limiter;
    info.sleeping_ms = sleeping_ms;
    return info;
  };
  std::vector<Table::Info> tables = {
      make("queue", Kind::kFifo, Kind::kFifo, 10, 1, {1, 1, 0, 10}, 1909),
      make("uniform", Kind::kUniform, Kind::kFifo, 100, 0, {1, 1, -kMax, kMax},
           1909),
      make("prioritized", Kind::kPrioritized, Kind::kMinHeap, 100, 3,
           {2, 2, -6, 14}, 1906),
      make("blocked", Kind::kFifo, Kind::kFifo, 100, 0, {1, 1, 0, 2}, 1906)};
  tables[2].sampler.priority_exponent = 0.8;
  tables[2].signature = signature;
  return tables;
}

TEST(ServerInfo, HasTheBytesOfDmReverb) {
  for (const RecordedMessage& message : RecordedMessages()) {
    if (message.name != "client_insert/002_ServerInfo_call01_resp.bin") {
      continue;
    }
    const auto parsed = ParseServerInfoResponse(message.bytes);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    const std::vector<Table::Info> tables =
        RecordedTables(parsed->tables.at(2).signature);
    EXPECT_EQ(BuildServerInfoResponse(parsed->state_id, tables), message.bytes);
    return;
  }
  FAIL() << "the recorded message is missing";
}

TEST(ServerInfo, ComesBack) {
  Table::Info a = TestInfo();
  Table::Info b = TestInfo();
  b.name = "b";
  b.signature = std::string("\x0a\x00", 2);
  const std::string bytes = BuildServerInfoResponse({1, 0}, {{a, b}});
  const auto parsed = ParseServerInfoResponse(bytes);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->state_id, (StateId{1, 0}));
  ASSERT_EQ(parsed->tables.size(), 2u);
  EXPECT_EQ(parsed->tables[0].name, "queue");
  EXPECT_EQ(parsed->tables[0].signature, "");
  EXPECT_EQ(parsed->tables[0].max_times_sampled, -1);
  EXPECT_EQ(parsed->tables[0].bytes, BuildTableInfo(a));
  EXPECT_EQ(parsed->tables[1].signature, b.signature);
}

}  // namespace
}  // namespace reverb::wire
