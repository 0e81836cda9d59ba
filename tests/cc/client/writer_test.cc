// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

class WriterTest : public BothWaysTest {
 protected:
  static std::unique_ptr<Writer> New(Client& client,
                                     const Writer::Options& options) {
    auto writer = client.NewWriter(options, Soon());
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *std::move(writer);
  }
  static absl::Status AppendInt(Writer& writer, int32_t value) {
    return writer.Append({Ints({value}).view()}, Soon());
  }
  static std::vector<int32_t> SampleInts(Client& client,
                                         const std::string& table) {
    auto sampler = client.NewSampler({.table = table, .max_samples = 1});
    const auto sample = (*sampler)->Next(Soon());
    EXPECT_TRUE(sample.ok()) << sample.status();
    if (!sample.ok()) return {};
    return Values<int32_t>(sample->columns.at(0));
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, WriterTest, testing::Bool(), WayName);

TEST_P(WriterTest, ItemsSpanChunksAndMayOverlap) {
  TestServer server({QueueTable("q", 100)});
  auto client = Connect(server);
  for (const bool delta : {false, true}) {
    auto writer =
        New(*client,
            {.chunk_length = 2, .max_timesteps = 5, .delta_encoded = delta});
    for (int i = 0; i < 8; ++i) {
      ASSERT_TRUE(AppendInt(*writer, i).ok());
      if (i >= 4) {
        ASSERT_TRUE(writer->CreateItem("q", 5, 1, Soon()).ok());
      }
    }
    ASSERT_TRUE(writer->Flush(Soon()).ok());
    for (int i = 4; i < 8; ++i) {
      EXPECT_THAT(SampleInts(*client, "q"),
                  ElementsAre(i - 4, i - 3, i - 2, i - 1, i));
    }
    EXPECT_TRUE(writer->Close(true, Soon()).ok());
  }
}

TEST_P(WriterTest, ItemsOfAnOpenChunkWaitForFlush) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  auto writer = New(*client, {.chunk_length = 10, .max_timesteps = 10});
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  EXPECT_EQ(server.table("t").size(), 0);
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  EXPECT_EQ(server.table("t").size(), 1);
  EXPECT_THAT(SampleInts(*client, "t"), ElementsAre(1));
}

TEST_P(WriterTest, NoItemIsLongerThanWhatIsBuffered) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  auto writer = New(*client, {.chunk_length = 4, .max_timesteps = 4});
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CreateItem("t", 1, 1, Soon())));
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CreateItem("t", 0, 1, Soon())));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CreateItem("t", 2, 1, Soon())));
  // A flush leaves a short chunk behind, which counts for what it is.
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CreateItem("t", 2, 1, Soon())));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(AppendInt(*writer, i).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CreateItem("t", 5, 1, Soon())));
  EXPECT_TRUE(writer->CreateItem("t", 4, 1, Soon()).ok());
}

TEST_P(WriterTest, SequencesAreStepsInARow) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  auto writer = New(*client, {.chunk_length = 2, .max_timesteps = 3});
  const Column a(DType::kInt32, {3, 2}, std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  const Column b = Column::Strings({3}, {"x", "y", "z"});
  ASSERT_TRUE(writer->AppendSequence({a.view(), b.view()}, Soon()).ok());
  ASSERT_TRUE(writer->CreateItem("t", 3, 1, Soon()).ok());
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  auto sampler = client->NewSampler({.table = "t", .max_samples = 1});
  const auto sample = (*sampler)->Next(Soon());
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_THAT(Values<int32_t>(sample->columns[0]),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(sample->columns[1].strings, ElementsAre("x", "y", "z"));

  EXPECT_TRUE(absl::IsInvalidArgument(writer->AppendSequence({}, Soon())));
  EXPECT_TRUE(absl::IsInvalidArgument(
      writer->AppendSequence({Float(1).view()}, Soon())));
  EXPECT_TRUE(absl::IsInvalidArgument(
      writer->AppendSequence({a.view(), Ints({1}).view()}, Soon())));
  EXPECT_TRUE(writer->AppendSequence({Ints({}).view()}, Soon()).ok());
}

TEST_P(WriterTest, StepsOfAChunkMustAgree) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  auto writer = New(*client, {.chunk_length = 2, .max_timesteps = 4});
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  EXPECT_TRUE(
      absl::IsInvalidArgument(writer->Append({Float(1).view()}, Soon())));
  EXPECT_TRUE(absl::IsInvalidArgument(
      writer->Append({Ints({1}).view(), Ints({1}).view()}, Soon())));
  // What was refused is not there.
  ASSERT_TRUE(AppendInt(*writer, 2).ok());
  ASSERT_TRUE(writer->CreateItem("t", 2, 1, Soon()).ok());
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  EXPECT_THAT(SampleInts(*client, "t"), ElementsAre(1, 2));
  // The next chunk may be different, but no item may mix them.
  ASSERT_TRUE(writer->Append({Float(1).view()}, Soon()).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer->CreateItem("t", 2, 1, Soon())));
  EXPECT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
}

TEST_P(WriterTest, BadItemsAreRefused) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  auto writer = New(*client, {});
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      writer->CreateItem("t", 1, std::nan(""), Soon())));
  const absl::Status status = writer->CreateItem("nope", 1, 1, Soon());
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'nope'"));
}

TEST_P(WriterTest, BlocksWhileTooManyItemsAreInFlight) {
  TestServer server({QueueTable("q", 1)});
  auto client = Connect(server);
  auto writer = New(*client, {.max_in_flight_items = 2});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(AppendInt(*writer, i).ok());
    ASSERT_TRUE(writer->CreateItem("q", 1, 1, Soon()).ok());
  }
  ASSERT_TRUE(AppendInt(*writer, 3).ok());
  const absl::Status blocked = writer->CreateItem("q", 1, 1, Soon(0.05));
  EXPECT_TRUE(absl::IsDeadlineExceeded(blocked)) << blocked;
  // The item is kept and goes out later.
  for (int i = 0; i < 4; ++i) {
    std::thread flusher([&] { writer->Flush(Soon(0.01)).IgnoreError(); });
    EXPECT_THAT(SampleInts(*client, "q"), ElementsAre(i));
    flusher.join();
  }
  EXPECT_TRUE(writer->Flush(Soon()).ok());
}

TEST_P(WriterTest, AfterCloseEverythingIsRefused) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  auto writer = New(*client, {});
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  EXPECT_THAT(writer->ToString(),
              MatchesRegex("Writer\\(chunk_length=1, max_timesteps=1, "
                           "delta_encoded=0, max_in_flight_items=25, "
                           "episode_id=[0-9]+, index_within_episode=1, "
                           "closed=0\\)"));
  ASSERT_TRUE(writer->Close(true, Soon()).ok());
  EXPECT_TRUE(writer->closed());
  EXPECT_EQ(server.table("t").size(), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(AppendInt(*writer, 1)));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(writer->CreateItem("t", 1, 1, Soon())));
  EXPECT_TRUE(absl::IsFailedPrecondition(writer->Flush(Soon())));
  EXPECT_TRUE(absl::IsInvalidArgument(writer->Close(true, Soon())));
}

TEST_P(WriterTest, ADroppedWriterDeliversInTheBackground) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  auto writer = New(*client, {.chunk_length = 5, .max_timesteps = 5});
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  writer.reset();
  EXPECT_TRUE(Eventually([&] { return server.table("t").size() == 1; }));
}

TEST_P(WriterTest, ItemsAreSentAgainAfterARestart) {
  TestServer server({UniformTable("t")});
  Client::Options options;
  options.target = server.target();
  options.allow_in_process = in_process();
  auto client = Client::Create(options);
  auto writer = New(*client, {.chunk_length = 2, .max_timesteps = 4});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(AppendInt(*writer, i).ok());
  ASSERT_TRUE(writer->CreateItem("t", 4, 1, Soon()).ok());
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  server.Restart();
  ASSERT_TRUE(writer->CreateItem("t", 4, 1, Soon()).ok());
  ASSERT_TRUE(AppendInt(*writer, 4).ok());
  ASSERT_TRUE(writer->CreateItem("t", 3, 1, Soon()).ok());
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  EXPECT_EQ(server.table("t").size(), 2);
  EXPECT_TRUE(writer->Close(true, Soon()).ok());
}

TEST_P(WriterTest, ALostServerIsReportedAndItemsStay) {
  TestServer server({UniformTable("t")});
  Client::Options options;
  options.target = server.target();
  options.allow_in_process = in_process();
  // Above the pause between two attempts to connect.
  options.reconnect_timeout = 2;
  auto client = Client::Create(options);
  auto writer = New(*client, {});
  ASSERT_TRUE(AppendInt(*writer, 0).ok());
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  server.Stop();
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  EXPECT_TRUE(absl::IsUnavailable(writer->Flush(Soon())));
  EXPECT_TRUE(absl::IsUnavailable(writer->Close(true, Soon())));
  server.Restart();
  EXPECT_TRUE(writer->Close(true, Soon()).ok());
  EXPECT_EQ(server.table("t").size(), 1);
}

TEST_P(WriterTest, CloseWithoutRetryGivesUp) {
  TestServer server({UniformTable("t")});
  Client::Options options;
  options.target = server.target();
  options.allow_in_process = in_process();
  options.reconnect_timeout = std::nullopt;
  auto client = Client::Create(options);
  auto writer = New(*client, {});
  ASSERT_TRUE(AppendInt(*writer, 0).ok());
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  ASSERT_TRUE(writer->Flush(Soon()).ok());
  server.Stop();
  ASSERT_TRUE(AppendInt(*writer, 1).ok());
  ASSERT_TRUE(writer->CreateItem("t", 1, 1, Soon()).ok());
  EXPECT_TRUE(writer->Close(false, Soon()).ok());
  EXPECT_TRUE(writer->closed());
}

TEST_P(WriterTest, OptionsOutOfRangeAreRefused) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  for (const Writer::Options& options :
       std::vector<Writer::Options>{{.max_timesteps = 0},
                                    {.chunk_length = 0},
                                    {.chunk_length = 3, .max_timesteps = 2},
                                    {.max_in_flight_items = 0}}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(client->NewWriter(options, Soon()).status()));
  }
}

}  // namespace
}  // namespace reverb
