// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/cc/service/service_fixture.h"

namespace reverb {
namespace {

using ::testing::HasSubstr;

using SampleStreamTest = ServiceTest;

TEST_F(SampleStreamTest, DeliversExactlyWhatWasRequested) {
  Insert("uniform", {1, 2, 3});
  auto call = Call(rpc::kSampleStreamMethod);
  for (const size_t count : {1, 1000, 7}) {
    ASSERT_TRUE(call->Write(SampleRequestFor("uniform", count)));
    EXPECT_EQ(ReadSamples(*call, count).size(), count);
  }
  call->HalfClose();
  EXPECT_EQ(call->Read(), std::nullopt);
  EXPECT_TRUE(call->Finish().ok());
  EXPECT_EQ(TableOf("uniform")->GetInfo().counters.samples, 1008);
}

TEST_F(SampleStreamTest, AHalfCloseComesAfterWhatWasRequested) {
  Insert("uniform", {1});
  Insert("queue", {1, 2, 3});
  auto call = Call(rpc::kSampleStreamMethod);
  // Two requests ahead, for different tables.
  ASSERT_TRUE(call->Write(SampleRequestFor("queue", 3)));
  ASSERT_TRUE(call->Write(SampleRequestFor("uniform", 500)));
  call->HalfClose();
  EXPECT_EQ(ReadSamples(*call, 503).size(), 503u);
  EXPECT_TRUE(call->Drain().ok());
}

TEST_F(SampleStreamTest, ASampleHasItsDataAndNumbers) {
  Insert("queue", {5});
  auto call = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(call->Write(SampleRequestFor("queue", 1)));
  const auto message = call->Read();
  ASSERT_TRUE(message.has_value());
  const auto entries = wire::ParseSampleResponse(*message);
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 1u);
  const wire::SampleEntry& entry = entries->front();
  ASSERT_TRUE(entry.info.has_value());
  EXPECT_TRUE(entry.end_of_sequence);
  EXPECT_EQ(entry.info->item.key, 5u);
  EXPECT_EQ(entry.info->item.table, "queue");
  EXPECT_EQ(entry.info->times_sampled, 1);
  EXPECT_EQ(entry.info->table_size, 1);
  EXPECT_EQ(entry.info->probability, 1);
  ASSERT_EQ(entry.chunks.size(), 1u);
  EXPECT_EQ(entry.chunks[0], TestChunk(5)->bytes());
}

TEST_F(SampleStreamTest, ATimeoutHasTheTextThatOldClientsKnow) {
  auto call = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(call->Write(SampleRequestFor("queue", 1, 20)));
  const absl::Status status = call->Drain();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(status.message(),
            "Rate Limiter: Timeout exceeded before the right to insert was "
            "acquired.");
}

TEST_F(SampleStreamTest, ATimeoutComesAfterTheSamplesThereWere) {
  Insert("queue", {1, 2});
  auto call = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(call->Write(SampleRequestFor("queue", 10, 20)));
  EXPECT_EQ(ReadSamples(*call, 2), (std::vector<ItemKey>{1, 2}));
  EXPECT_TRUE(absl::IsDeadlineExceeded(call->Drain()));
}

TEST_F(SampleStreamTest, BadRequestsHaveTheirCodes) {
  for (const int64_t count :
       {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 32,
        (int64_t{1} << 32) + 5, std::numeric_limits<int64_t>::max()}) {
    const absl::Status status =
        Once(rpc::kSampleStreamMethod, SampleRequestFor("uniform", count));
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << count << " " << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("num_samples"));
  }
  const absl::Status missing =
      Once(rpc::kSampleStreamMethod, SampleRequestFor("missing", 1));
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(std::string(missing.message()),
              HasSubstr("Priority table missing was not found"));
  const absl::Status malformed = Once(rpc::kSampleStreamMethod, "\x0a\xff");
  EXPECT_TRUE(absl::IsInvalidArgument(malformed));
  EXPECT_NE(malformed.message(), "");
  ExpectAlive();
}

TEST_F(SampleStreamTest, CancelledRequestsEatNothing) {
  for (int i = 0; i < 20; ++i) {
    auto call = Call(rpc::kSampleStreamMethod);
    ASSERT_TRUE(call->Write(SampleRequestFor("large", 128)));
    ASSERT_TRUE(Eventually(
        [&] { return TableOf("large")->GetInfo().waiting_samples == 1; }));
    call->Cancel();
    EXPECT_TRUE(absl::IsCancelled(call->Drain()));
    ASSERT_TRUE(Eventually(
        [&] { return TableOf("large")->GetInfo().waiting_samples == 0; }));
  }
  std::vector<ItemKey> keys;
  for (ItemKey key = 1; key <= 200; ++key) keys.push_back(key);
  Insert("large", keys);
  EXPECT_EQ(TableOf("large")->size(), 200);
  EXPECT_EQ(TableOf("large")->GetInfo().counters.samples, 0);
}

TEST_F(SampleStreamTest, AReaderThatDoesNotReadIsNotSampledFor) {
  // 100 kB a sample; a million of them would be 100 GB.
  Insert("uniform", {1}, 100'000);
  auto call = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(call->Write(SampleRequestFor("uniform", 1'000'000)));
  // Settled when nothing has been sampled for some ServerInfo calls in a row.
  int64_t samples = -1;
  for (int quiet = 0; quiet < 50;) {
    EXPECT_TRUE(Once(rpc::kServerInfoMethod, "").ok());
    const int64_t now = TableOf("uniform")->GetInfo().counters.samples;
    quiet = now == samples ? quiet + 1 : 0;
    samples = now;
  }
  // The windows hold some 4 MiB, and so much again is prepared.
  EXPECT_GT(samples, 0);
  EXPECT_LT(samples, 1000);
  call->Cancel();
  EXPECT_TRUE(absl::IsCancelled(call->Drain()));
  ExpectAlive();
}

TEST_F(SampleStreamTest, ALargeSampleIsSpreadOverMessages) {
  auto insert = Call(rpc::kInsertStreamMethod);
  wire::InsertRequestBuilder builder;
  Trajectory trajectory;
  for (ChunkKey key = 1; key <= 8; ++key) {
    const Ref<const Chunk> chunk = TestChunk(key, 1, 700'000);
    builder.AddChunk(chunk);
    trajectory.Add({.chunk = chunk, .offset = 0, .length = 1});
  }
  builder.AddItem("uniform", 1,
                  *MakeRef<Item>(ItemKey{1}, std::move(trajectory)));
  ASSERT_TRUE(insert->Write(builder.Build()));
  EXPECT_EQ(ReadKeys(*insert, 1).size(), 1u);

  auto call = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(call->Write(SampleRequestFor("uniform", 1)));
  size_t chunks = 0;
  int messages = 0;
  for (bool end = false; !end; ++messages) {
    const auto message = call->Read();
    ASSERT_TRUE(message.has_value()) << call->Finish();
    const auto entries = wire::ParseSampleResponse(*message);
    ASSERT_TRUE(entries.ok());
    for (const wire::SampleEntry& entry : *entries) {
      chunks += entry.chunks.size();
      EXPECT_EQ(entry.info.has_value(), messages == 0);
      end = entry.end_of_sequence;
    }
  }
  EXPECT_EQ(chunks, 8u);
  EXPECT_EQ(messages, 3);
}

}  // namespace
}  // namespace reverb
