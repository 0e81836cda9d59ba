// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What inserts, samples, updates, deletes and resets do to a table.

#include "reverb/cc/table/table.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/error_info.h"
#include "tests/cc/table/table_fixture.h"

namespace reverb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class TableTest : public TableFixture {};

TEST_F(TableTest, CreateRefusesOptionsOutOfRangeAndNamesTheTable) {
  const auto refuses = [this](Table::Options options, const char* text) {
    const auto table = Table::Create(std::move(options), executor_, clock_);
    EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(table.status().message(), HasSubstr(text));
  };
  Table::Options options = BaseOptions();
  options.name = "";
  refuses(options, "name");
  for (const int64_t max_size : {int64_t{0}, int64_t{-3}, int64_t{1} << 31}) {
    options = BaseOptions();
    options.max_size = max_size;
    refuses(options, "table 't': max_size");
    refuses(options, absl::StrCat(max_size).c_str());
  }
  options = BaseOptions();
  options.sampler = {
      .kind = Kind::kPrioritized, .priority_exponent = kNan, .seed = {}};
  refuses(options, "priority_exponent");
  options = BaseOptions();
  options.rate_limiter.samples_per_insert = 0;
  refuses(options, "samples_per_insert");
  options = BaseOptions();
  options.extensions.push_back(nullptr);
  refuses(options, "extension");
}

TEST_F(TableTest, InsertedItemsAreConfirmedAndSampled) {
  auto table = Make();
  EXPECT_THAT(KeysOf(Insert(*table, {5, 6}), absl::StatusCode::kOk),
              ElementsAre(5, 6));
  EXPECT_EQ(table->size(), 2);
  const std::vector<Sample> samples = TakeSamples(*table, 2);
  EXPECT_THAT(KeysOf(samples), ElementsAre(5, 5));
  EXPECT_EQ(samples[0].probability, 1);
  EXPECT_EQ(samples[0].priority, 1);
  EXPECT_EQ(samples[0].table_size, 2);
  EXPECT_EQ(samples[0].times_sampled, 1);
  EXPECT_EQ(samples[1].times_sampled, 2);
  EXPECT_FALSE(samples[0].rate_limited);
}

TEST_F(TableTest, OneCallReportsABatchOnce) {
  auto table = Make();
  Insert(*table, Range(0, 40));
  EXPECT_EQ(insert_sink_->num_calls(), 1);
}

TEST_F(TableTest, EvictsAfterTheInsertWhatTheRemoverPicks) {
  Table::Options options = BaseOptions();
  options.max_size = 2;
  auto table = Make(options);
  Insert(*table, {1, 2, 3});
  EXPECT_EQ(table->size(), 2);
  EXPECT_THAT(KeysOf(TakeSamples(*table, 1)), ElementsAre(2));

  options.remover.kind = Kind::kLifo;
  table = Make(options);
  EXPECT_THAT(KeysOf(Insert(*table, {1, 2, 3}), absl::StatusCode::kOk),
              ElementsAre(1, 2, 3));
  EXPECT_EQ(table->GetInfo().counters.inserts, 3);
  EXPECT_EQ(table->GetInfo().counters.deletes, 1);
  ASSERT_TRUE(table->Mutate({}, {1, 2}).ok());
  EXPECT_EQ(table->size(), 0);  // The newcomer, 3, was the one to go.

  options.remover.kind = Kind::kMinHeap;
  options.sampler.kind = Kind::kMinHeap;
  table = Make(options);
  Insert(*table, {1, 2}, 5);
  Insert(*table, {3}, 4);
  EXPECT_THAT(KeysOf(TakeSamples(*table, 1)), ElementsAre(1));
}

TEST_F(TableTest, AnExistingKeyOnlyTakesTheNewPriority) {
  Table::Options options = BaseOptions();
  options.sampler.kind = Kind::kMaxHeap;
  auto table = Make(options);
  Insert(*table, {1, 2}, 5);
  const int64_t inserted_at =
      TakeSamples(*table, 1)[0].item->inserted_at_nanos();
  clock_.SetWallNanos(clock_.WallNanos() + 1'000'000);
  EXPECT_THAT(KeysOf(Insert(*table, {1}, 7), absl::StatusCode::kOk),
              ElementsAre(1));
  EXPECT_EQ(table->size(), 2);
  EXPECT_EQ(table->GetInfo().counters.inserts, 2);
  const std::vector<Sample> samples = TakeSamples(*table, 1);
  EXPECT_EQ(samples[0].item->key(), 1);
  EXPECT_EQ(samples[0].priority, 7);
  EXPECT_EQ(samples[0].times_sampled, 2);
  EXPECT_EQ(samples[0].item->inserted_at_nanos(), inserted_at);
}

TEST_F(TableTest, AnExistingKeyHasToPassTheLimiterToo) {
  Table::Options options = BaseOptions();
  options.rate_limiter = Queue(2);
  auto table = Make(options);
  Insert(*table, {1, 2});
  EXPECT_THAT(Insert(*table, {1}, 9), IsEmpty());
  TakeSamples(*table, 1);
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kOk),
              ElementsAre(1));
}

TEST_F(TableTest, ABadPriorityFailsOnlyThatInsert) {
  Table::Options options = BaseOptions();
  options.sampler = {
      .kind = Kind::kPrioritized, .priority_exponent = 1, .seed = 1};
  auto table = Make(options);
  std::vector<InsertRequest> requests;
  requests.push_back({TestItem(1), 1});
  requests.push_back({TestItem(2), -1});
  requests.push_back({TestItem(3), kNan});
  requests.push_back({TestItem(1), kNan});
  requests.push_back({TestItem(4), 2});
  table->Insert(std::move(requests), insert_sink_);
  const std::vector<InsertResult> results = insert_sink_->Take();
  ASSERT_EQ(results.size(), 5);
  EXPECT_TRUE(results[0].status.ok());
  for (const int bad : {1, 2, 3}) {
    EXPECT_EQ(results[bad].status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(results[bad].status.message(), HasSubstr("table 't'"));
  }
  EXPECT_THAT(results[1].status.message(), HasSubstr("-1"));
  EXPECT_TRUE(results[4].status.ok());
  EXPECT_EQ(table->size(), 2);
  EXPECT_EQ(table->GetInfo().counters.inserts, 2);
  EXPECT_EQ(TakeSamples(*table, 10).size(), 10);
}

TEST_F(TableTest, CheckPriorityAsksBothSelectors) {
  Table::Options options = BaseOptions();
  options.remover.kind = Kind::kMinHeap;
  auto table = Make(options);
  EXPECT_TRUE(table->CheckPriority(-1).ok());
  const absl::Status status = table->CheckPriority(kNan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const auto info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->table, "t");
}

TEST_F(TableTest, ItemsLeaveAtMaxTimesSampled) {
  Table::Options options = BaseOptions();
  options.max_times_sampled = 2;
  auto table = Make(options);
  Insert(*table, {1, 2});
  const std::vector<Sample> samples = TakeSamples(*table, 3);
  EXPECT_THAT(KeysOf(samples), ElementsAre(1, 1, 2));
  EXPECT_EQ(samples[1].table_size, 2);  // Before it is removed.
  EXPECT_EQ(samples[2].table_size, 1);
  EXPECT_EQ(table->size(), 1);
  const Table::Info info = table->GetInfo();
  EXPECT_EQ(info.counters.samples, 3);
  EXPECT_EQ(info.counters.deletes, 1);
  EXPECT_EQ(info.num_unique_samples, 2);
}

TEST_F(TableTest, InsertedAtNeverGoesBack) {
  auto table = Make();
  Insert(*table, {1});
  const int64_t first = TakeSamples(*table, 1)[0].item->inserted_at_nanos();
  EXPECT_EQ(first, clock_.WallNanos());
  clock_.SetWallNanos(first - 1'000'000'000);
  Insert(*table, {2});
  ASSERT_TRUE(table->Mutate({}, {1}).ok());
  EXPECT_GT(TakeSamples(*table, 1)[0].item->inserted_at_nanos(), first);
}

TEST_F(TableTest, MutateDeletesFirstAndIgnoresUnknownKeys) {
  Table::Options options = BaseOptions();
  options.sampler.kind = Kind::kMaxHeap;
  auto table = Make(options);
  Insert(*table, {1, 2, 3}, 5);
  EXPECT_TRUE(
      table->Mutate({{1, 10}, {2, 11}, {99, 1}, {2, 12}}, {1, 77, 1}).ok());
  EXPECT_EQ(table->size(), 2);
  const std::vector<Sample> samples = TakeSamples(*table, 1);
  EXPECT_EQ(samples[0].item->key(), 2);
  EXPECT_EQ(samples[0].priority, 12);
  EXPECT_EQ(table->GetInfo().counters.deletes, 1);
}

TEST_F(TableTest, ARefusedMutateChangesNothing) {
  Table::Options options = BaseOptions();
  options.sampler.kind = Kind::kMaxHeap;
  options.remover = {
      .kind = Kind::kPrioritized, .priority_exponent = 1, .seed = 1};
  auto table = Make(options);
  Insert(*table, {1, 2}, 5);
  const absl::Status status = table->Mutate({{1, 10}, {2, -1}}, {2});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("-1"));
  EXPECT_EQ(table->size(), 2);
  EXPECT_EQ(TakeSamples(*table, 1)[0].priority, 5);
}

TEST_F(TableTest, CountsDistinctEpisodes) {
  Table::Options options = BaseOptions();
  options.max_size = 3;
  auto table = Make(options);
  const auto insert = [&](ItemKey key, std::vector<uint64_t> episodes) {
    std::vector<Ref<const Chunk>> chunks;
    for (const uint64_t episode : episodes) {
      chunks.push_back(TestChunk(episode));
    }
    std::vector<InsertRequest> requests;
    requests.push_back({TestItem(key, chunks), 1});
    table->Insert(std::move(requests), insert_sink_);
  };
  insert(1, {10, 11, 10});
  insert(2, {10});
  insert(3, {12});
  EXPECT_EQ(table->GetInfo().num_episodes, 3);
  EXPECT_EQ(table->GetInfo().num_deleted_episodes, 0);
  insert(4, {12, 12});  // Evicts 1, and with it episode 11.
  EXPECT_EQ(table->GetInfo().num_episodes, 2);
  EXPECT_EQ(table->GetInfo().num_deleted_episodes, 1);
  ASSERT_TRUE(table->Mutate({}, {2, 3}).ok());
  EXPECT_EQ(table->GetInfo().num_episodes, 1);
  EXPECT_EQ(table->GetInfo().num_deleted_episodes, 2);
}

TEST_F(TableTest, ResetEmptiesAndZeroes) {
  Table::Options options = BaseOptions();
  options.max_size = 2;
  auto table = Make(options);
  std::vector<InsertRequest> requests;
  for (const ItemKey key : {1, 2, 3}) {
    requests.push_back({TestItem(key, /*episode=*/key), 1});
  }
  table->Insert(std::move(requests), insert_sink_);
  TakeSamples(*table, 2);
  ASSERT_TRUE(table->Reset().ok());
  Table::Info info = table->GetInfo();
  EXPECT_EQ(info.current_size, 0);
  EXPECT_EQ(info.counters.inserts, 0);
  EXPECT_EQ(info.counters.samples, 0);
  EXPECT_EQ(info.counters.deletes, 0);
  EXPECT_EQ(info.num_episodes, 0);
  EXPECT_EQ(info.num_deleted_episodes, 0);
  EXPECT_EQ(info.num_unique_samples, 0);
  Insert(*table, {1});
  EXPECT_THAT(KeysOf(TakeSamples(*table, 1)), ElementsAre(1));
}

TEST_F(TableTest, SamplesOutliveTheirTable) {
  auto table = Make();
  Insert(*table, {1});
  const std::vector<Sample> samples = TakeSamples(*table, 1);
  ASSERT_TRUE(table->Reset().ok());
  table.reset();
  EXPECT_EQ(samples[0].item->key(), 1);
  EXPECT_EQ(samples[0].item->trajectory().slices()[0].chunk->bytes().size(), 8);
}

TEST_F(TableTest, ABatchEndsWhenItsChunksReachTheByteLimit) {
  for (const int32_t max_times_sampled : {0, 100}) {
    Table::Options options = BaseOptions();
    options.max_times_sampled = max_times_sampled;
    auto table = Make(options);
    std::vector<InsertRequest> requests;
    requests.push_back({TestItem(1, /*episode=*/1, /*bytes=*/40), 1});
    table->Insert(std::move(requests), insert_sink_);
    for (const auto& [max_bytes, expected] :
         std::vector<std::pair<size_t, size_t>>{
             {0, 1}, {1, 1}, {40, 1}, {41, 2}, {80, 2}, {81, 3}, {4000, 10}}) {
      table->RequestSamples({.num_samples = 10, .max_bytes = max_bytes},
                            sample_sink_);
      const auto answers = sample_sink_->Take();
      ASSERT_EQ(answers.size(), 1);
      EXPECT_EQ(answers[0].samples.size(), expected) << max_bytes;
    }
  }
}

TEST_F(TableTest, AChunkThatColumnsShareCountsOnce) {
  auto table = Make();
  const Ref<const Chunk> chunk = TestChunk(1, 40);
  std::vector<InsertRequest> requests;
  requests.push_back({TestItem(1, {chunk, TestChunk(1, 10), chunk}), 1});
  table->Insert(std::move(requests), insert_sink_);
  table->RequestSamples({.num_samples = 10, .max_bytes = 51}, sample_sink_);
  EXPECT_EQ(sample_sink_->Take().at(0).samples.size(), 2);
}

TEST_F(TableTest, TheLimitersPredicatesRefuseNumbersBelowOne) {
  auto table = Make();
  EXPECT_FALSE(*table->CanSample(1));
  EXPECT_TRUE(*table->CanInsert(1000));
  Insert(*table, {1});
  EXPECT_TRUE(*table->CanSample(3));
  EXPECT_EQ(table->CanSample(0).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(table->CanInsert(-1).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TableTest, ARequestForNoSamplesIsAnError) {
  auto table = Make();
  table->RequestSamples({.num_samples = 0}, sample_sink_);
  const auto answers = sample_sink_->Take();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].status.code(), absl::StatusCode::kInvalidArgument);
}

class LoggingExtension final : public TableExtension {
 public:
  void OnInsert(const Event& e) override { Log("insert", e); }
  void OnUpdate(const Event& e) override { Log("update", e); }
  void OnSample(const Event& e) override { Log("sample", e); }
  void OnDelete(const Event& e) override { Log("delete", e); }
  void OnReset() override { log.push_back("reset"); }
  std::string ToString() const override { return "LoggingExtension"; }

  std::vector<std::string> log;

 private:
  void Log(const char* what, const Event& e) {
    log.push_back(absl::StrCat(what, " ", e.item.key(), " ", e.priority, " ",
                               e.times_sampled));
  }
};

TEST_F(TableTest, ExtensionsSeeEveryChangeInOrder) {
  auto extension = std::make_shared<LoggingExtension>();
  Table::Options options = BaseOptions();
  options.max_size = 2;
  options.max_times_sampled = 2;
  options.extensions.push_back(extension);
  auto table = Make(options);
  Insert(*table, {1, 2, 3}, 5);
  ASSERT_TRUE(table->Mutate({{2, 6}}, {}).ok());
  TakeSamples(*table, 2);
  ASSERT_TRUE(table->Mutate({}, {3}).ok());
  ASSERT_TRUE(table->Reset().ok());
  EXPECT_THAT(
      extension->log,
      ElementsAre("insert 1 5 0", "insert 2 5 0", "insert 3 5 0",
                  "delete 1 5 0", "update 2 6 0", "sample 2 6 1",
                  "sample 2 6 2", "delete 2 6 2", "delete 3 5 0", "reset"));
}

TEST_F(TableTest, PrintsAsItAlwaysDid) {
  Table::Options options = QueueOptions(3);
  EXPECT_EQ(Make(options)->ToString(),
            "Table(sampler=FifoSelector, remover=FifoSelector, max_size=3, "
            "max_times_sampled=1, name=t, "
            "rate_limiter=RateLimiter(samples_per_insert=1, min_diff_=0, "
            "max_diff=3, min_size_to_sample=1), signature=nullptr)");
  options.signature = "bytes";
  options.extensions.push_back(std::make_shared<LoggingExtension>());
  EXPECT_THAT(
      Make(options)->ToString("text"),
      ::testing::EndsWith("signature=text, extensions=[LoggingExtension])"));
}

TEST_F(TableTest, InfoRepeatsTheOptions) {
  Table::Options options = QueueOptions(3);
  options.max_times_sampled = -1;
  options.signature = "bytes";
  const Table::Info info = Make(options)->GetInfo();
  EXPECT_EQ(info.name, "t");
  EXPECT_EQ(info.max_size, 3);
  EXPECT_EQ(info.max_times_sampled, -1);
  EXPECT_EQ(info.rate_limiter.max_diff, 3);
  EXPECT_EQ(info.signature, "bytes");
}

}  // namespace
}  // namespace reverb
