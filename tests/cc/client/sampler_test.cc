// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

using testing::ElementsAre;

class SamplerTest : public BothWaysTest {
 protected:
  static void Fill(Client& client, const std::string& table, int count) {
    for (int i = 0; i < count; ++i) {
      const auto outcome = InsertOne(client, Ints({i}), table);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    }
  }
  static std::unique_ptr<Sampler> New(Client& client,
                                      const Sampler::Options& options) {
    auto sampler = client.NewSampler(options);
    EXPECT_TRUE(sampler.ok()) << sampler.status();
    return *std::move(sampler);
  }
  static int32_t ValueOf(const absl::StatusOr<SampleData>& sample) {
    return Values<int32_t>(sample->columns.at(0)).at(0);
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, SamplerTest, testing::Bool(), WayName);

TEST_P(SamplerTest, SamplesComeInTheOrderOfTheirGrant) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  Fill(*client, "q", 50);
  auto sampler = New(*client, {.table = "q",
                               .max_samples = 50,
                               .max_in_flight = 7,
                               .max_samples_per_stream = 20});
  for (int i = 0; i < 50; ++i) {
    const auto sample = sampler->Next(Soon());
    ASSERT_TRUE(sample.ok()) << sample.status();
    EXPECT_EQ(ValueOf(sample), i);
  }
  EXPECT_TRUE(absl::IsOutOfRange(sampler->Next(Soon()).status()));
  EXPECT_EQ(server.table("q").size(), 0);
}

TEST_P(SamplerTest, NeverTakesMoreThanMaxSamples) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  Fill(*client, "q", 20);
  auto sampler =
      New(*client, {.table = "q", .max_samples = 5, .max_in_flight = 64});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(sampler->Next(Soon()).ok());
  sampler.reset();
  EXPECT_EQ(server.table("q").size(), 15);
}

TEST_P(SamplerTest, AQueueGivesOneMoreThanConsumedByDefault) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  Fill(*client, "q", 20);
  auto sampler = New(*client, {.table = "q"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sampler->Next(Soon()).ok());
    // A remote request may go out only when the caller comes back.
    EXPECT_GE(server.table("q").size(), 20 - (i + 2));
    EXPECT_LE(server.table("q").size(), 20 - (i + 1));
  }
  if (in_process()) {
    EXPECT_EQ(server.table("q").size(), 16);
  }
}

TEST_P(SamplerTest, ALimiterTimeoutEndsTheSequenceOfAWaitingReader) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  Fill(*client, "q", 2);
  auto sampler =
      New(*client,
          {.table = "q", .max_in_flight = 1, .rate_limiter_timeout_ms = 50});
  EXPECT_TRUE(sampler->Next(Soon()).ok());
  EXPECT_TRUE(sampler->Next(Soon()).ok());
  EXPECT_TRUE(absl::IsOutOfRange(sampler->Next(Soon()).status()));
  EXPECT_TRUE(absl::IsOutOfRange(sampler->Next(Soon()).status()));
}

TEST_P(SamplerTest, ATimeoutFailsTheCallAndEndsTheSampler) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  for (const double timeout : {0.05, 0.0}) {
    auto sampler =
        New(*client, {.table = "q", .max_in_flight = 1, .timeout = timeout});
    const absl::Status status = sampler->Next(Soon()).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    EXPECT_TRUE(absl::IsDeadlineExceeded(sampler->Next(Soon()).status()));
  }
  // What was asked for is withdrawn, at a remote server soon after.
  EXPECT_TRUE(Eventually(
      [&] { return server.table("q").GetInfo().waiting_samples == 0; }));
}

TEST_P(SamplerTest, ATimeoutIsForEachSample) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  Fill(*client, "q", 1);
  auto sampler =
      New(*client, {.table = "q", .max_in_flight = 1, .timeout = 1.0});
  EXPECT_TRUE(sampler->Next(Soon()).ok());
  const absl::Status status = sampler->Next(Soon()).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST_P(SamplerTest, TryingOnceTakesWhatIsThere) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  Fill(*client, "q", 3);
  auto sampler =
      New(*client, {.table = "q", .max_in_flight = 1, .timeout = 0.0});
  for (int i = 0; i < 3; ++i) {
    const auto sample = sampler->Next(Soon());
    ASSERT_TRUE(sample.ok()) << sample.status();
  }
  EXPECT_TRUE(absl::IsDeadlineExceeded(sampler->Next(Soon()).status()));
}

TEST_P(SamplerTest, ADeadlineOfTheCallLeavesTheSamplerUsable) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  auto sampler = New(*client, {.table = "q", .max_in_flight = 1});
  EXPECT_TRUE(absl::IsDeadlineExceeded(sampler->Next(Soon(0.05)).status()));
  Fill(*client, "q", 1);
  EXPECT_TRUE(sampler->Next(Soon()).ok());
}

TEST_P(SamplerTest, ABlockedNextReactsToInterrupts) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  for (const int workers : {1, 3}) {
    auto sampler = New(
        *client, {.table = "q", .max_in_flight = 1, .num_workers = workers});
    WaitOptions wait;
    wait.interrupted = [&] {
      return server.table("q").GetInfo().waiting_samples == workers;
    };
    EXPECT_TRUE(IsInterrupted(sampler->Next(wait).status()));
    sampler.reset();
    EXPECT_TRUE(Eventually(
        [&] { return server.table("q").GetInfo().waiting_samples == 0; }));
  }
}

TEST_P(SamplerTest, CloseEndsABlockedNext) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  for (const int workers : {1, 3}) {
    auto sampler = New(
        *client, {.table = "q", .max_in_flight = 1, .num_workers = workers});
    absl::Status status;
    std::thread reader([&] { status = sampler->Next({}).status(); });
    EXPECT_TRUE(Eventually([&] {
      return server.table("q").GetInfo().waiting_samples == workers;
    }));
    sampler->Close();
    reader.join();
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
    sampler.reset();
    EXPECT_TRUE(Eventually(
        [&] { return server.table("q").GetInfo().waiting_samples == 0; }));
  }
}

TEST_P(SamplerTest, SeveralWorkersDeliverEverythingOnce) {
  TestServer server({QueueTable("q", 500)});
  auto client = Connect(server);
  Fill(*client, "q", 200);
  auto sampler = New(*client, {.table = "q",
                               .max_samples = 200,
                               .max_in_flight = 5,
                               .num_workers = 4,
                               .max_samples_per_stream = 30});
  std::set<int32_t> seen;
  for (int i = 0; i < 200; ++i) {
    const auto sample = sampler->Next(Soon());
    ASSERT_TRUE(sample.ok()) << sample.status();
    seen.insert(ValueOf(sample));
  }
  EXPECT_EQ(seen.size(), 200);
  EXPECT_TRUE(absl::IsOutOfRange(sampler->Next(Soon()).status()));
}

TEST_P(SamplerTest, AStoppedServerEndsABlockedNext) {
  for (const int workers : {1, 2}) {
    TestServer server({QueueTable("q", 100)});
    auto client = Connect(server);
    auto sampler = New(
        *client, {.table = "q", .max_in_flight = 1, .num_workers = workers});
    absl::Status status;
    std::thread reader([&] { status = sampler->Next({}).status(); });
    EXPECT_TRUE(Eventually([&] {
      return server.table("q").GetInfo().waiting_samples == workers;
    }));
    server.Stop();
    reader.join();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
}

TEST_P(SamplerTest, SamplingGoesOnAfterARestart) {
  TestServer server({QueueTable("q", 100)});
  Client::Options options;
  options.target = server.target();
  options.allow_in_process = in_process();
  auto client = Client::Create(options);
  auto sampler = New(*client, {.table = "q", .max_in_flight = 1});
  absl::StatusOr<SampleData> sample;
  std::thread reader([&] { sample = sampler->Next({}); });
  EXPECT_TRUE(Eventually(
      [&] { return server.table("q").GetInfo().waiting_samples == 1; }));
  server.Restart();
  Fill(*client, "q", 1);
  reader.join();
  EXPECT_TRUE(sample.ok()) << sample.status();
}

TEST_P(SamplerTest, OptionsOutOfRangeAreRefused) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  for (const Sampler::Options& options : std::vector<Sampler::Options>{
           {.table = "q", .max_samples = 0},
           {.table = "q", .max_samples = -2},
           {.table = "q", .max_in_flight = 0},
           {.table = "q", .num_workers = 0},
           {.table = "q", .max_samples_per_stream = 0}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(client->NewSampler(options).status()));
  }
}

TEST_P(SamplerTest, ABigSampleSpansMessages) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  constexpr int kSteps = 6;
  constexpr size_t kBytes = size_t{1} << 20;
  auto writer =
      client->NewWriter({.chunk_length = 1, .max_timesteps = kSteps}, Soon());
  ASSERT_TRUE(writer.ok()) << writer.status();
  uint32_t state = 1;
  std::vector<std::vector<uint8_t>> steps;
  for (int i = 0; i < kSteps; ++i) {
    std::vector<uint8_t> bytes(kBytes);
    for (uint8_t& b : bytes) {
      state = state * 1664525u + 1013904223u;
      b = state >> 24;
    }
    steps.push_back(bytes);
    const Column column(DType::kUint8, {static_cast<int64_t>(kBytes)},
                        std::move(bytes));
    ASSERT_TRUE((*writer)->Append({column.view()}, Soon()).ok());
  }
  ASSERT_TRUE((*writer)->CreateItem("t", kSteps, 1, Soon()).ok());
  ASSERT_TRUE((*writer)->Flush(Soon()).ok());
  auto sampler = New(*client, {.table = "t", .max_samples = 3});
  for (int i = 0; i < 3; ++i) {
    const auto sample = sampler->Next(Soon());
    ASSERT_TRUE(sample.ok()) << sample.status();
    EXPECT_THAT(sample->columns.at(0).dims,
                ElementsAre(kSteps, static_cast<int64_t>(kBytes)));
    const std::vector<uint8_t> values = Values<uint8_t>(sample->columns[0]);
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_TRUE(std::equal(steps[step].begin(), steps[step].end(),
                             values.begin() + step * kBytes));
    }
  }
}

}  // namespace
}  // namespace reverb
