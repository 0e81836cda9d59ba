// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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
using testing::IsEmpty;

class ClientTest : public BothWaysTest {};
INSTANTIATE_TEST_SUITE_P(Ways, ClientTest, testing::Bool(), WayName);

absl::StatusOr<SampleData> SampleOne(Client& client, const std::string& table) {
  auto sampler = client.NewSampler({.table = table, .max_samples = 1});
  if (!sampler.ok()) return sampler.status();
  return (*sampler)->Next(Soon());
}

TEST_P(ClientTest, InsertedDataComesBack) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  const auto outcome = InsertOne(*client, Ints({1, 2, 3}), "t", 2.5);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.inserted, ElementsAre("t"));

  const auto sample = SampleOne(*client, "t");
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->priority, 2.5);
  EXPECT_EQ(sample->table_size, 1);
  EXPECT_EQ(sample->times_sampled, 1);
  EXPECT_EQ(sample->probability, 1.0);
  ASSERT_EQ(sample->columns.size(), 1);
  EXPECT_THAT(sample->columns[0].dims, ElementsAre(1, 3));
  EXPECT_THAT(Values<int32_t>(sample->columns[0]), ElementsAre(1, 2, 3));
}

TEST_P(ClientTest, EveryDtypeRoundTrips) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  for (int number = 0; number < 64; ++number) {
    const std::optional<DType> dtype = DTypeFromWire(number);
    if (!dtype) continue;
    SCOPED_TRACE(DTypeName(*dtype));
    const size_t size = ElementSize(*dtype);
    std::vector<char> bytes(2 * size);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = (i % 2) == 1;
    std::vector<std::string> strings;
    if (*dtype == DType::kString) strings = {"", std::string("a\0b", 3)};
    const Column column(*dtype, {2}, bytes, strings);
    ASSERT_TRUE(InsertOne(*client, column, "t").status.ok());
    const auto sample = SampleOne(*client, "t");
    ASSERT_TRUE(sample.ok()) << sample.status();
    ASSERT_TRUE(client->Reset("t", Soon()).ok());
    const Tensor& tensor = sample->columns.at(0);
    EXPECT_EQ(tensor.dtype, *dtype);
    EXPECT_THAT(tensor.dims, ElementsAre(1, 2));
    if (*dtype == DType::kString) {
      EXPECT_THAT(tensor.strings, ElementsAre("", std::string("a\0b", 3)));
    } else {
      EXPECT_EQ(Values<char>(tensor), bytes);
    }
  }
}

TEST_P(ClientTest, OneStepGoesToSeveralTablesInOrder) {
  TestServer server({UniformTable("a"), UniformTable("b")});
  auto client = Connect(server);
  const Column column = Float(1);
  const TensorView view = column.view();
  const std::vector<std::pair<std::string, double>> priorities = {{"b", 1},
                                                                  {"a", 2}};
  const auto outcome = client->Insert({view}, priorities, std::nullopt, Soon());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(outcome.inserted, ElementsAre("b", "a"));
  EXPECT_EQ(server.table("a").size(), 1);
  EXPECT_EQ(server.table("b").size(), 1);
}

TEST_P(ClientTest, UnknownTablesAreNamedWithThoseThereAre) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  const auto outcome = InsertOne(*client, Float(1), "nope");
  EXPECT_TRUE(absl::IsInvalidArgument(outcome.status));
  EXPECT_EQ(outcome.status.message(),
            "Unable to find signatures for table 'nope' in signature cache.  "
            "Available tables: ['t'].");
  EXPECT_THAT(outcome.withdrawn, ElementsAre("nope"));

  EXPECT_THAT(std::string(SampleOne(*client, "nope").status().message()),
              HasSubstr("Priority table nope was not found"));
  EXPECT_TRUE(absl::IsNotFound(client->Reset("nope", Soon())));
  EXPECT_TRUE(
      absl::IsNotFound(client->MutatePriorities("nope", {}, {}, Soon())));
  EXPECT_TRUE(InsertOne(*client, Float(1), "t").status.ok());
}

TEST_P(ClientTest, BadPrioritiesAreRefusedAndHarmNobody) {
  Table::Options prioritized = UniformTable("p");
  prioritized.sampler.kind = SelectorOptions::Kind::kPrioritized;
  prioritized.sampler.priority_exponent = 0.5;
  TestServer server({prioritized});
  auto client = Connect(server);
  for (const double bad :
       {std::nan(""), -1.0, std::numeric_limits<double>::infinity()}) {
    const auto outcome = InsertOne(*client, Float(1), "p", bad);
    EXPECT_TRUE(absl::IsInvalidArgument(outcome.status)) << outcome.status;
    EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("'p'"));
  }
  EXPECT_TRUE(InsertOne(*client, Float(1), "p", 1).status.ok());
  EXPECT_EQ(server.table("p").size(), 1);
}

TEST_P(ClientTest, InsertNeedsTablesAndColumns) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  const Column column = Float(1);
  const TensorView view = column.view();
  EXPECT_TRUE(absl::IsInvalidArgument(
      client->Insert({view}, {}, std::nullopt, Soon()).status));
  const std::vector<std::pair<std::string, double>> priorities = {{"t", 1}};
  EXPECT_TRUE(absl::IsInvalidArgument(
      client->Insert({}, priorities, std::nullopt, Soon()).status));
}

TEST_P(ClientTest, PrioritiesAreUpdatedAndItemsDeleted) {
  TestServer server({UniformTable("t")});
  auto client = Connect(server);
  ASSERT_TRUE(InsertOne(*client, Float(1), "t").status.ok());
  const auto sample = SampleOne(*client, "t");
  ASSERT_TRUE(sample.ok());
  const std::vector<PriorityUpdate> updates = {{sample->key, 7.0}};
  ASSERT_TRUE(client->MutatePriorities("t", updates, {}, Soon()).ok());
  EXPECT_EQ(SampleOne(*client, "t")->priority, 7.0);
  const std::vector<ItemKey> deletes = {sample->key};
  ASSERT_TRUE(client->MutatePriorities("t", {}, deletes, Soon()).ok());
  EXPECT_EQ(server.table("t").size(), 0);
}

TEST_P(ClientTest, ServerInfoListsTheTables) {
  TestServer server({UniformTable("a"), QueueTable("b", 3)});
  auto client = Connect(server);
  const auto info = client->ServerInfo(Soon());
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->tables.size(), 2);
  for (const auto& table : info->tables) {
    EXPECT_EQ(table.max_times_sampled, table.name == "b" ? 1 : 0);
    EXPECT_FALSE(table.bytes.empty());
  }
  const auto signature = client->TableSignature("a", Soon());
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(*signature, nullptr);
}

TEST_P(ClientTest, ATimeoutWithdrawsWhatTheLimiterHoldsBack) {
  TestServer server({QueueTable("q", 1), UniformTable("t")});
  auto client = Connect(server);
  // The features are known after the first call.
  ASSERT_TRUE(client->ServerInfo(Soon()).ok());
  ASSERT_TRUE(InsertOne(*client, Float(1), "q").status.ok());
  const Column column = Float(2);
  const TensorView view = column.view();
  const std::vector<std::pair<std::string, double>> priorities = {{"t", 1},
                                                                  {"q", 1}};
  // Long enough for the insert into "t" on a busy machine.
  for (const double timeout : {1.0, 0.0}) {
    const auto outcome = client->Insert({view}, priorities, timeout, Soon());
    EXPECT_TRUE(absl::IsDeadlineExceeded(outcome.status)) << outcome.status;
    EXPECT_THAT(outcome.inserted, ElementsAre("t"));
    EXPECT_THAT(outcome.withdrawn, ElementsAre("q"));
    EXPECT_THAT(outcome.unknown, IsEmpty());
  }
  EXPECT_EQ(server.table("q").GetInfo().waiting_inserts, 0);
  EXPECT_EQ(server.table("q").size(), 1);
  EXPECT_EQ(server.table("t").size(), 2);
  // The next one is not harmed.
  EXPECT_TRUE(InsertOne(*client, Float(1), "t", 1, 10.0).status.ok());
}

TEST_P(ClientTest, ABlockedInsertGoesOnWhenThereIsRoom) {
  TestServer server({QueueTable("q", 1)});
  auto client = Connect(server);
  ASSERT_TRUE(InsertOne(*client, Float(1), "q").status.ok());
  absl::Status blocked = absl::UnknownError("not done");
  std::thread inserter(
      [&] { blocked = InsertOne(*client, Float(2), "q").status; });
  EXPECT_TRUE(Eventually(
      [&] { return server.table("q").GetInfo().waiting_inserts == 1; }));
  EXPECT_TRUE(SampleOne(*client, "q").ok());
  inserter.join();
  EXPECT_TRUE(blocked.ok()) << blocked;
}

TEST_P(ClientTest, AnInterruptEndsABlockedInsert) {
  TestServer server({QueueTable("q", 1)});
  auto client = Connect(server);
  ASSERT_TRUE(InsertOne(*client, Float(1), "q").status.ok());
  WaitOptions wait;
  wait.interrupted = [&] {
    return server.table("q").GetInfo().waiting_inserts == 1;
  };
  const Column column = Float(2);
  const TensorView view = column.view();
  const std::vector<std::pair<std::string, double>> priorities = {{"q", 1}};
  const auto outcome = client->Insert({view}, priorities, std::nullopt, wait);
  EXPECT_TRUE(IsInterrupted(outcome.status)) << outcome.status;
  EXPECT_THAT(outcome.unknown, ElementsAre("q"));
}

TEST_P(ClientTest, ClosingEndsABlockedInsertAndRefusesLaterCalls) {
  TestServer server({QueueTable("q", 1)});
  auto client = Connect(server);
  ASSERT_TRUE(InsertOne(*client, Float(1), "q").status.ok());
  absl::Status blocked;
  std::thread inserter(
      [&] { blocked = InsertOne(*client, Float(2), "q").status; });
  EXPECT_TRUE(Eventually(
      [&] { return server.table("q").GetInfo().waiting_inserts == 1; }));
  client->Close();
  inserter.join();
  EXPECT_TRUE(absl::IsCancelled(blocked)) << blocked;
  EXPECT_TRUE(absl::IsCancelled(client->ServerInfo(Soon()).status()));
  EXPECT_TRUE(absl::IsCancelled(InsertOne(*client, Float(1), "q").status));
}

TEST_P(ClientTest, ManyThreadsInsertAtOnce) {
  TestServer server({UniformTable("t", 10000)});
  auto client = Connect(server);
  constexpr int kThreads = 8;
  constexpr int kEach = 50;
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        if (!InsertOne(*client, Float(1), "t").status.ok()) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(server.table("t").size(), kThreads * kEach);
}

TEST_P(ClientTest, AStoppedServerEndsABlockedInsert) {
  TestServer server({QueueTable("q", 1)});
  auto client = Connect(server);
  ASSERT_TRUE(InsertOne(*client, Float(1), "q").status.ok());
  absl::Status blocked;
  std::thread inserter(
      [&] { blocked = InsertOne(*client, Float(2), "q").status; });
  EXPECT_TRUE(Eventually(
      [&] { return server.table("q").GetInfo().waiting_inserts == 1; }));
  server.Stop();
  inserter.join();
  EXPECT_TRUE(absl::IsUnavailable(blocked)) << blocked;
  EXPECT_THAT(std::string(blocked.message()), HasSubstr(server.target()));
}

TEST_P(ClientTest, AnInsertIsSentAgainToARestartedServer) {
  TestServer server({QueueTable("q", 1)});
  Client::Options options;
  options.target = server.target();
  options.allow_in_process = in_process();
  auto client = Client::Create(options);
  ASSERT_TRUE(InsertOne(*client, Float(1), "q").status.ok());
  absl::Status blocked;
  std::thread inserter(
      [&] { blocked = InsertOne(*client, Float(2), "q").status; });
  EXPECT_TRUE(Eventually(
      [&] { return server.table("q").GetInfo().waiting_inserts == 1; }));
  server.Restart();
  inserter.join();
  EXPECT_TRUE(blocked.ok()) << blocked;
  EXPECT_EQ(server.table("q").size(), 1);
  EXPECT_TRUE(client->ServerInfo(Soon()).ok());
}

TEST(ClientWithoutServer, CallsEndWithUnavailable) {
  Client::Options options;
  options.target = "localhost:1";
  options.connect_timeout = 0.2;
  auto client = Client::Create(options);
  EXPECT_TRUE(absl::IsUnavailable(client->ServerInfo({}).status()));
  EXPECT_TRUE(absl::IsUnavailable(client->Reset("t", {})));
  EXPECT_TRUE(absl::IsUnavailable(client->MutatePriorities("t", {}, {}, {})));
  EXPECT_TRUE(absl::IsUnavailable(client->Checkpoint({}).status()));
  const Column column = Float(2);
  const TensorView view = column.view();
  const std::vector<std::pair<std::string, double>> priorities = {{"q", 1}};
  EXPECT_TRUE(absl::IsUnavailable(
      client->Insert({view}, priorities, std::nullopt, {}).status));
  auto sampler = client->NewSampler({.table = "t"});
  ASSERT_TRUE(sampler.ok());
  EXPECT_TRUE(absl::IsUnavailable((*sampler)->Next({}).status()));
  EXPECT_TRUE(absl::IsUnavailable(client->NewWriter({}, {}).status()));
}

TEST(ClientWithoutServer, DeadlinesHold) {
  Client::Options options;
  options.target = "localhost:1";
  auto client = Client::Create(options);
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(client->ServerInfo(Soon(0.05)).status()));
  const auto outcome = InsertOne(*client, Float(1), "t", 1, 0.05);
  EXPECT_TRUE(absl::IsDeadlineExceeded(outcome.status)) << outcome.status;
  EXPECT_THAT(outcome.withdrawn, ElementsAre("t"));
  auto sampler =
      client->NewSampler({.table = "t", .max_in_flight = 1, .timeout = 0.05});
  ASSERT_TRUE(sampler.ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded((*sampler)->Next({}).status()));
}

TEST(ClientWithoutServer, InterruptsEndCalls) {
  Client::Options options;
  options.target = "localhost:1";
  auto client = Client::Create(options);
  WaitOptions wait;
  wait.interrupted = [] { return true; };
  EXPECT_TRUE(IsInterrupted(client->ServerInfo(wait).status()));
  auto sampler = client->NewSampler({.table = "t", .max_in_flight = 1});
  ASSERT_TRUE(sampler.ok());
  EXPECT_TRUE(IsInterrupted((*sampler)->Next(wait).status()));
}

}  // namespace
}  // namespace reverb
