// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// SampleStreamRequest and SampleStreamResponse.

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

// An item of one column with a slice of each chunk, in order.
Sample TestSample(const std::vector<Ref<const Chunk>>& chunks,
                  ItemKey key = 1) {
  Trajectory trajectory;
  for (const Ref<const Chunk>& chunk : chunks) {
    trajectory.Add({chunk, 0, 1, 0, chunk == chunks.back(), false});
  }
  Ref<Item> item = MakeRef<Item>(key, std::move(trajectory));
  item->set_inserted_at_nanos(1'700'000'000'123'456'789);
  Sample sample;
  sample.item = item;
  sample.probability = 0.25;
  sample.priority = 1.5;
  sample.table_size = 4;
  sample.times_sampled = 2;
  sample.rate_limited = true;
  return sample;
}

std::vector<SampleEntry> Parse(const std::string& bytes) {
  auto entries = ParseSampleResponse(bytes);
  EXPECT_TRUE(entries.ok()) << entries.status();
  return *std::move(entries);
}

// Chunks per entry of each message.
std::vector<std::vector<size_t>> Layout(const std::vector<Rope>& messages) {
  std::vector<std::vector<size_t>> result;
  for (const Rope& message : messages) {
    std::vector<size_t>& entries = result.emplace_back();
    for (const SampleEntry& entry : Parse(message.Flatten())) {
      entries.push_back(entry.chunks.size());
    }
  }
  return result;
}

TEST(SampleResponse, CarriesTheSample) {
  const Ref<const Chunk> a = TestChunk(10);
  const Ref<const Chunk> b = TestChunk(11, 1000);
  SampleResponseBuilder builder("table");
  builder.Add(TestSample({a, b, a}, 77));
  const std::vector<Rope> messages = builder.Take(/*flush=*/true);
  ASSERT_EQ(messages.size(), 1u);
  const std::string bytes = messages[0].Flatten();
  EXPECT_EQ(bytes.size(), messages[0].size());
  const std::vector<SampleEntry> entries = Parse(bytes);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_TRUE(entries[0].end_of_sequence);
  EXPECT_THAT(entries[0].chunks, ElementsAre(a->bytes(), b->bytes()));
  ASSERT_TRUE(entries[0].info.has_value());
  const SampleEntry::Info& info = *entries[0].info;
  EXPECT_EQ(info.item.key, 77u);
  EXPECT_EQ(info.item.table, "table");
  EXPECT_EQ(info.item.priority, 1.5);
  EXPECT_EQ(info.item.slices.size(), 3u);
  EXPECT_EQ(info.times_sampled, 2);
  EXPECT_EQ(info.inserted_at_nanos, 1'700'000'000'123'456'789);
  EXPECT_EQ(info.probability, 0.25);
  EXPECT_EQ(info.table_size, 4);
  EXPECT_TRUE(info.rate_limited);
  EXPECT_TRUE(builder.Take(true).empty());
}

TEST(SampleResponse, SmallSamplesShareAMessage) {
  SampleResponseBuilder builder("table");
  for (int i = 0; i < 100; ++i) builder.Add(TestSample({TestChunk(10)}));
  EXPECT_TRUE(builder.Take(/*flush=*/false).empty());
  EXPECT_EQ(Layout(builder.Take(true)),
            (std::vector<std::vector<size_t>>{std::vector<size_t>(100, 1)}));
}

TEST(SampleResponse, SplitsALargeSampleAsDmReverbDoes) {
  // 8 chunks of 700 kB -> 3, 3, 2.
  std::vector<Ref<const Chunk>> chunks;
  for (int i = 0; i < 8; ++i) chunks.push_back(TestChunk(i, 700'000 / 4));
  SampleResponseBuilder builder("table");
  builder.Add(TestSample(chunks));
  const std::vector<Rope> messages = builder.Take(true);
  EXPECT_EQ(Layout(messages),
            (std::vector<std::vector<size_t>>{{3}, {3}, {2}}));
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string bytes = messages[i].Flatten();
    const SampleEntry entry = std::move(Parse(bytes)[0]);
    EXPECT_EQ(entry.info.has_value(), i == 0);
    EXPECT_EQ(entry.end_of_sequence, i == 2);
  }
}

TEST(SampleResponse, OneHugeChunkGoesWhole) {
  SampleResponseBuilder builder("table");
  std::vector<Ref<const Chunk>> chunks;
  for (int i = 0; i < 3; ++i) chunks.push_back(TestChunk(i, 3'000'000 / 4));
  builder.Add(TestSample(chunks));
  builder.Add(TestSample({TestChunk(9)}));
  EXPECT_EQ(Layout(builder.Take(false)),
            (std::vector<std::vector<size_t>>{{1}, {1}, {1}}));
  EXPECT_EQ(Layout(builder.Take(true)),
            (std::vector<std::vector<size_t>>{{1}}));
}

TEST(SampleResponse, ASampleMayFillUpAMessageBegunByAnother) {
  const Ref<const Chunk> mega = TestChunk(1, 1'100'000 / 4);
  const Ref<const Chunk> mega2 = TestChunk(2, 1'100'000 / 4);
  const Ref<const Chunk> mega3 = TestChunk(3, 1'100'000 / 4);
  SampleResponseBuilder builder("table");
  builder.Add(TestSample({mega}));
  builder.Add(TestSample({mega2, mega3}));
  EXPECT_EQ(Layout(builder.Take(true)),
            (std::vector<std::vector<size_t>>{{1, 1}, {1}}));
}

TEST(SampleResponse, ManyChunksTakeTimeInProportion) {
  std::vector<Ref<const Chunk>> chunks;
  for (int i = 0; i < 100'000; ++i) chunks.push_back(TestChunk(i, 1));
  SampleResponseBuilder builder("table");
  builder.Add(TestSample(chunks));
  size_t count = 0;
  for (const auto& message : Layout(builder.Take(true))) {
    for (size_t entry : message) count += entry;
  }
  EXPECT_EQ(count, 100'000u);
}

TEST(SampleResponse, TimesBeforeTheEpochCountForward) {
  Sample sample = TestSample({TestChunk(1)});
  Ref<Item> item = MakeRef<Item>(ItemKey{1}, sample.item->trajectory());
  item->set_inserted_at_nanos(-1);
  sample.item = item;
  SampleResponseBuilder builder("t");
  builder.Add(sample);
  const std::string bytes = builder.Take(true)[0].Flatten();
  EXPECT_EQ(Parse(bytes)[0].info->inserted_at_nanos, -1);
}

TEST(SampleResponse, ImpossibleTimesSaturate) {
  const std::string bytes = Message([](pbf_writer& out) {
    pbf_writer entry(out, 1);
    pbf_writer info(entry, 1);
    pbf_writer item(info, 1);
    pbf_writer time(item, 7);
    time.add_int64(1, std::numeric_limits<int64_t>::max());
  });
  EXPECT_EQ(Parse(bytes)[0].info->inserted_at_nanos,
            std::numeric_limits<int64_t>::max());
}

TEST(SampleResponse, ARepeatedInfoMerges) {
  const std::string bytes = Message([](pbf_writer& out) {
    pbf_writer entry(out, 1);
    {
      pbf_writer info(entry, 1);
      info.add_double(2, 0.5);
      pbf_writer item(info, 1);
      item.add_uint64(1, 3);
      item.add_int32(6, 8);
    }
    pbf_writer info(entry, 1);
    info.add_int64(3, 9);
    pbf_writer item(info, 1);
    item.add_string(2, "t");
  });
  const SampleEntry::Info info = *Parse(bytes)[0].info;
  EXPECT_EQ(info.probability, 0.5);
  EXPECT_EQ(info.table_size, 9);
  EXPECT_EQ(info.item.key, 3u);
  EXPECT_EQ(info.item.table, "t");
  EXPECT_EQ(info.times_sampled, 8);
}

TEST(SampleResponse, BoundsTheNumberOfEntries) {
  std::string bytes;
  for (int i = 0; i <= 1'000'000; ++i) bytes += std::string("\x0a\x00", 2);
  EXPECT_EQ(ParseSampleResponse(bytes).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(SampleRequest, ComesBack) {
  SampleMessage message;
  message.table =
      "t\xc3\xa4"
      "ble";
  message.num_samples = 12345;
  for (std::optional<int64_t> timeout :
       {std::optional<int64_t>(), std::optional<int64_t>(0),
        std::optional<int64_t>(-1), std::optional<int64_t>(5000)}) {
    message.timeout_ms = timeout;
    message.try_once = !message.try_once;
    const auto parsed = ParseSampleRequest(BuildSampleRequest(message));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->table, message.table);
    EXPECT_EQ(parsed->num_samples, 12345);
    EXPECT_EQ(parsed->timeout_ms, timeout);
    EXPECT_EQ(parsed->try_once, message.try_once);
  }
}

TEST(SampleRequest, RefusesCountsThatNobodyCanServe) {
  for (int64_t count :
       {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 32,
        (int64_t{1} << 32) + 5, std::numeric_limits<int64_t>::max(),
        std::numeric_limits<int64_t>::min()}) {
    SampleMessage message;
    message.num_samples = count;
    EXPECT_EQ(ParseSampleRequest(BuildSampleRequest(message)).status().code(),
              absl::StatusCode::kInvalidArgument)
        << count;
  }
  SampleMessage most;
  most.num_samples = (int64_t{1} << 31) - 1;
  EXPECT_TRUE(ParseSampleRequest(BuildSampleRequest(most)).ok());
}

TEST(SampleRequest, RefusesANameThatIsNoText) {
  const auto parsed = ParseSampleRequest("\x0a\x01\xff\x10\x01");
  EXPECT_EQ(parsed.status().message(), "the name of the table is not UTF-8");
}

}  // namespace
}  // namespace reverb::wire
