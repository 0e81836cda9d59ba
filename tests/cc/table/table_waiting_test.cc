// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Who waits in a table, for how long, and in what order they go.

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/table/table.h"
#include "tests/cc/table/table_fixture.h"

namespace reverb {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TableWaitingTest : public TableFixture {
 protected:
  std::vector<InsertRequest> Requests(const std::vector<ItemKey>& keys) {
    std::vector<InsertRequest> requests;
    for (const ItemKey key : keys) requests.push_back({TestItem(key), 1});
    return requests;
  }
  SteadyTime In(int64_t ms) { return clock_.Now() + milliseconds(ms); }
  void Advance(int64_t ms) {
    clock_.Advance(milliseconds(ms));
    executor_.RunAll();
  }
};

TEST_F(TableWaitingTest, AFullQueueBlocksInsertsUntilAnItemIsTaken) {
  auto table = Make(QueueOptions(2));
  EXPECT_THAT(KeysOf(Insert(*table, {1, 2, 3, 4}), absl::StatusCode::kOk),
              ElementsAre(1, 2));
  EXPECT_EQ(table->GetInfo().waiting_inserts, 2);
  EXPECT_THAT(KeysOf(TakeSamples(*table, 1)), ElementsAre(1));
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kOk),
              ElementsAre(3));
  // Samples and inserts alternate: the request gets more than the queue holds.
  EXPECT_THAT(KeysOf(TakeSamples(*table, 5)), ElementsAre(2, 3, 4));
  EXPECT_EQ(table->size(), 0);
}

TEST_F(TableWaitingTest, SamplesWaitForInsertsInOrderOfArrival) {
  auto table = Make(QueueOptions(100));
  auto other = std::make_shared<RecordingSampleSink>();
  table->RequestSamples({.num_samples = 2}, sample_sink_);
  table->RequestSamples({.num_samples = 2}, other);
  EXPECT_EQ(table->GetInfo().waiting_samples, 2);
  Insert(*table, {1, 2, 3});
  auto answers = sample_sink_->Take();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_THAT(KeysOf(answers[0].samples), ElementsAre(1, 2));
  EXPECT_TRUE(answers[0].samples[0].rate_limited);
  // Fewer than asked for, but all there is without waiting.
  answers = other->Take();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_THAT(KeysOf(answers[0].samples), ElementsAre(3));
  EXPECT_EQ(table->GetInfo().waiting_samples, 0);
}

TEST_F(TableWaitingTest, OneInsertThenTheFirstRequestIsTheAlternation) {
  // With SPI 1 and a queue of one, nothing else would get through.
  auto table = Make(QueueOptions(1));
  table->RequestSamples({.num_samples = 10}, sample_sink_);
  EXPECT_THAT(KeysOf(Insert(*table, Range(0, 6)), absl::StatusCode::kOk),
              ElementsAre(0, 1, 2, 3, 4, 5));
  const auto answers = sample_sink_->Take();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(KeysOf(answers[0].samples), Range(0, 6));
}

TEST_F(TableWaitingTest, ASampleDeadlineEndsWithTheTextOldClientsKnow) {
  auto table = Make();
  table->RequestSamples({.num_samples = 1, .deadline = In(50)}, sample_sink_);
  Advance(49);
  EXPECT_THAT(sample_sink_->Take(), IsEmpty());
  Advance(1);
  const auto answers = sample_sink_->Take();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(answers[0].status.message(), kRateLimiterTimeoutText);
  EXPECT_EQ(table->GetInfo().waiting_samples, 0);
}

TEST_F(TableWaitingTest, AnInsertDeadlineWithdrawsWhatHasNotBegun) {
  auto table = Make(QueueOptions(2));
  table->Insert(Requests({1, 2, 3, 4}), insert_sink_, In(50));
  EXPECT_EQ(insert_sink_->Take().size(), 2);
  Advance(50);
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kDeadlineExceeded),
              ElementsAre(3, 4));
  EXPECT_EQ(TakeSamples(*table, 5).size(), 2);
}

TEST_F(TableWaitingTest, EachWaiterHasItsOwnDeadline) {
  auto table = Make(QueueOptions(1));
  Insert(*table, {1});
  table->Insert(Requests({2}), insert_sink_, In(300));
  table->Insert(Requests({3}), insert_sink_, In(100));
  table->Insert(Requests({4}), insert_sink_);
  table->Insert(Requests({5}), insert_sink_, In(200));
  std::vector<ItemKey> expired;
  for (int i = 0; i < 30; ++i) {
    Advance(10);
    for (const InsertResult& result : insert_sink_->Take()) {
      EXPECT_EQ(i, result.key == 3 ? 9 : result.key == 5 ? 19 : 29);
      expired.push_back(result.key);
    }
  }
  EXPECT_THAT(expired, ElementsAre(3, 5, 2));
  EXPECT_EQ(executor_.num_timed(), 0);
  TakeSamples(*table, 1);
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kOk),
              ElementsAre(4));
}

TEST_F(TableWaitingTest, ARequestThatIsServedInTimeNeedsNoTimer) {
  auto table = Make();
  Insert(*table, {1});
  table->RequestSamples({.num_samples = 1, .deadline = In(50)}, sample_sink_);
  EXPECT_EQ(sample_sink_->Take().size(), 1);
  EXPECT_EQ(executor_.num_timed(), 0);
}

TEST_F(TableWaitingTest, ManyWaitersShareOneTimer) {
  auto table = Make();
  for (int i = 0; i < 10; ++i) {
    table->RequestSamples({.num_samples = 1, .deadline = In(50 + i)},
                          sample_sink_);
  }
  EXPECT_EQ(executor_.num_timed(), 1);
  Advance(100);
  EXPECT_EQ(sample_sink_->Take().size(), 10);
}

TEST_F(TableWaitingTest, ATimerOutlivesItsTable) {
  auto table = Make();
  table->RequestSamples({.num_samples = 1, .deadline = In(50)}, sample_sink_);
  table.reset();
  const auto answers = sample_sink_->Take();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].status.code(), absl::StatusCode::kCancelled);
  Advance(100);
}

TEST_F(TableWaitingTest, TryOnceTakesWhatThereIsAndNeverWaits) {
  auto table = Make(QueueOptions(2));
  const auto try_sample = [&](int64_t count) {
    table->RequestSamples({.num_samples = count, .try_once = true},
                          sample_sink_);
    auto answers = sample_sink_->Take();
    EXPECT_EQ(answers.size(), 1);
    return std::move(answers.at(0));
  };
  EXPECT_EQ(try_sample(1).status.message(), kRateLimiterTimeoutText);
  table->Insert(Requests({1, 2, 3}), insert_sink_, kNoDeadline,
                /*try_once=*/true);
  const std::vector<InsertResult> results = insert_sink_->Take();
  ASSERT_EQ(results.size(), 3);
  EXPECT_TRUE(results[1].status.ok());
  EXPECT_EQ(results[2].key, 3);
  EXPECT_EQ(results[2].status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(try_sample(5).samples.size(), 2);
  EXPECT_EQ(table->GetInfo().waiting_inserts, 0);
  EXPECT_EQ(table->GetInfo().waiting_samples, 0);
}

TEST_F(TableWaitingTest, TryOnceDoesNotOvertake) {
  auto table = Make(QueueOptions(1));
  Insert(*table, {1, 2});  // 2 waits.
  table->Insert(Requests({3}), insert_sink_, kNoDeadline, /*try_once=*/true);
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kDeadlineExceeded),
              ElementsAre(3));
  EXPECT_EQ(table->GetInfo().waiting_inserts, 1);
}

TEST_F(TableWaitingTest, ADeadlineThatHasPassedIsATryOnce) {
  auto table = Make();
  table->Insert(Requests({1}), insert_sink_, In(-5));
  EXPECT_EQ(KeysOf(insert_sink_->Take(), absl::StatusCode::kOk).size(), 1);
  table->RequestSamples({.num_samples = 1, .deadline = In(0)}, sample_sink_);
  EXPECT_EQ(sample_sink_->Take().at(0).samples.size(), 1);
  ASSERT_TRUE(table->Reset().ok());
  table->RequestSamples({.num_samples = 1, .deadline = In(0)}, sample_sink_);
  EXPECT_EQ(sample_sink_->Take().at(0).status.code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(TableWaitingTest, AWithdrawnRequestTakesNothing) {
  auto table = Make(QueueOptions(10));
  const uint64_t first =
      table->RequestSamples({.num_samples = 1}, sample_sink_);
  auto other = std::make_shared<RecordingSampleSink>();
  table->RequestSamples({.num_samples = 1}, other);
  EXPECT_TRUE(table->WithdrawSamples(first));
  EXPECT_FALSE(table->WithdrawSamples(first));
  Insert(*table, {1, 2});
  EXPECT_THAT(sample_sink_->Take(), IsEmpty());
  EXPECT_THAT(KeysOf(other->Take().at(0).samples), ElementsAre(1));
  EXPECT_EQ(table->size(), 1);
}

TEST_F(TableWaitingTest, WithdrawnInsertsAreNamedAndNotReported) {
  auto table = Make(QueueOptions(1));
  auto other = std::make_shared<RecordingInsertSink>();
  Insert(*table, {1, 2, 3});
  table->Insert(Requests({4}), other);
  Insert(*table, {5});
  EXPECT_THAT(table->WithdrawInserts(insert_sink_.get()), ElementsAre(2, 3, 5));
  TakeSamples(*table, 1);
  EXPECT_THAT(insert_sink_->Take(), IsEmpty());
  EXPECT_THAT(KeysOf(other->Take(), absl::StatusCode::kOk), ElementsAre(4));
}

TEST_F(TableWaitingTest, ResetLetsBlockedInsertsGo) {
  auto table = Make(QueueOptions(1));
  Insert(*table, {1, 2});
  ASSERT_TRUE(table->Reset().ok());
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kOk),
              ElementsAre(2));
  EXPECT_EQ(table->size(), 1);
}

TEST_F(TableWaitingTest, ResetLeavesWaitingSamplesWaiting) {
  auto table = Make();
  table->RequestSamples({.num_samples = 1}, sample_sink_);
  ASSERT_TRUE(table->Reset().ok());
  EXPECT_THAT(sample_sink_->Take(), IsEmpty());
  Insert(*table, {1});
  EXPECT_EQ(sample_sink_->Take().size(), 1);
}

TEST_F(TableWaitingTest, ADeleteLetsABlockedInsertGo) {
  // Below the minimum size inserts are unconditional.
  Table::Options options = BaseOptions();
  options.rate_limiter = {.samples_per_insert = 1,
                          .min_size_to_sample = 2,
                          .min_diff = 0,
                          .max_diff = 2};
  auto table = Make(options);
  Insert(*table, {1, 2, 3});
  EXPECT_EQ(table->GetInfo().waiting_inserts, 1);
  ASSERT_TRUE(table->Mutate({}, {1}).ok());
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kOk),
              ElementsAre(3));
}

TEST_F(TableWaitingTest, CloseCancelsAllWaitersAndLaterRequests) {
  auto table = Make(QueueOptions(1));
  Insert(*table, {1, 2});
  auto empty = Make();
  empty->RequestSamples({.num_samples = 1}, sample_sink_);
  table->Close();
  empty->Close();
  table->Close();
  EXPECT_THAT(KeysOf(insert_sink_->Take(), absl::StatusCode::kCancelled),
              ElementsAre(2));
  EXPECT_EQ(sample_sink_->Take().at(0).status.code(),
            absl::StatusCode::kCancelled);
  EXPECT_THAT(KeysOf(Insert(*table, {3}), absl::StatusCode::kCancelled),
              ElementsAre(3));
  table->RequestSamples({.num_samples = 1}, sample_sink_);
  EXPECT_EQ(sample_sink_->Take().at(0).status.code(),
            absl::StatusCode::kCancelled);
  // What only looks still works.
  EXPECT_EQ(table->GetInfo().current_size, 1);
  EXPECT_TRUE(*table->CanSample(1));
  EXPECT_FALSE(*table->CanInsert(1));
}

TEST_F(TableWaitingTest, TheInsertQueueIsFullAtATenthOfTheTable) {
  for (const auto& [max_size, limit] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {10, 1}, {29, 2}, {100, 10}, {100'000, 1000}}) {
    Table::Options options = BaseOptions();
    options.max_size = max_size;
    options.rate_limiter = Queue(1);
    auto table = Make(options);
    Insert(*table, Range(0, static_cast<ItemKey>(limit)));
    EXPECT_FALSE(table->InsertQueueIsFull()) << max_size;
    Insert(*table, {100'000});
    EXPECT_TRUE(table->InsertQueueIsFull()) << max_size;
  }
}

TEST_F(TableWaitingTest, ALongBatchIsFinishedByTheExecutor) {
  Table::Options options = BaseOptions();
  options.max_size = 2000;
  auto table = Make(options);
  const std::vector<InsertResult> at_once = Insert(*table, Range(0, 1000));
  EXPECT_LT(at_once.size(), 1000);
  EXPECT_GE(at_once.size(), 64);
  EXPECT_EQ(executor_.num_ready(), 1);
  // Somebody else's call helps, but posts no second task.
  Insert(*table, {5000});
  EXPECT_EQ(executor_.num_ready(), 1);
  executor_.RunAll();
  EXPECT_EQ(table->size(), 1001);
  EXPECT_EQ(table->GetInfo().waiting_inserts, 0);
}

TEST_F(TableWaitingTest, ALongRequestIsFinishedByTheExecutor) {
  auto table = Make();
  Insert(*table, {1});
  table->RequestSamples({.num_samples = 2000}, sample_sink_);
  EXPECT_THAT(sample_sink_->Take(), IsEmpty());
  executor_.RunAll();
  const auto answers = sample_sink_->Take();
  ASSERT_EQ(answers.size(), 1);
  EXPECT_EQ(answers[0].samples.size(), 2000);
  // It never waited for the limiter.
  EXPECT_FALSE(answers[0].samples.back().rate_limited);
}

TEST_F(TableWaitingTest, TheAlternationSurvivesTheEndOfAHold) {
  // A request that is cut off by the end of a hold goes on before the next
  // insert: exactly SPI samples follow each insert.
  Table::Options options = BaseOptions();
  options.sampler.kind = Kind::kLifo;
  options.rate_limiter = {.samples_per_insert = 100,
                          .min_size_to_sample = 1,
                          .min_diff = 0,
                          .max_diff = 100};
  auto table = Make(options);
  table->RequestSamples({.num_samples = 1000}, sample_sink_);
  Insert(*table, Range(0, 10));
  executor_.RunAll();
  const auto answers = sample_sink_->Take();
  ASSERT_EQ(answers.size(), 1);
  ASSERT_EQ(answers[0].samples.size(), 1000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(answers[0].samples[i].item->key(), i / 100) << i;
  }
}

TEST_F(TableWaitingTest, BatchedDrawsEqualSingleOnes) {
  // The second table's limit is never reached: it draws one by one.
  Table::Options options = BaseOptions();
  options.sampler = {
      .kind = Kind::kPrioritized, .priority_exponent = 0.7, .seed = 42};
  options.rate_limiter = {.samples_per_insert = 2.3,
                          .min_size_to_sample = 3,
                          .min_diff = 1.9,
                          .max_diff = 1e6};
  auto batched = Make(options);
  options.max_times_sampled = 1'000'000;
  auto single = Make(options);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::vector<Sample>> samples;
    for (Table* table : {batched.get(), single.get()}) {
      std::vector<InsertRequest> requests;
      for (int i = 0; i < 7; ++i) {
        const ItemKey key = round * 7 + i;
        requests.push_back({TestItem(key, 1, 10 + key % 50), 1.0 + i});
      }
      table->Insert(std::move(requests), insert_sink_);
      samples.emplace_back();
      for (const size_t max_bytes : {70, 400, 100'000}) {
        table->RequestSamples({.num_samples = 30, .max_bytes = max_bytes},
                              sample_sink_);
        executor_.RunAll();
        for (auto& answer : sample_sink_->Take()) {
          samples.back().insert(samples.back().end(), answer.samples.begin(),
                                answer.samples.end());
        }
      }
    }
    ASSERT_EQ(KeysOf(samples[0]), KeysOf(samples[1]));
    for (size_t i = 0; i < samples[0].size(); ++i) {
      ASSERT_EQ(samples[0][i].probability, samples[1][i].probability);
      ASSERT_EQ(samples[0][i].times_sampled, samples[1][i].times_sampled);
    }
    ASSERT_EQ(batched->GetInfo().counters.samples,
              single->GetInfo().counters.samples);
  }
}

TEST_F(TableWaitingTest, TimeIsAttributedToWhatItWasSpentOn) {
  auto table = Make(QueueOptions(1));
  clock_.Advance(milliseconds(5));
  Insert(*table, {1, 2});
  clock_.Advance(milliseconds(7));
  EXPECT_EQ(table->GetInfo().waiting_for_sampling_ms, 7);
  TakeSamples(*table, 5);
  clock_.Advance(milliseconds(11));
  table->RequestSamples({.num_samples = 1}, sample_sink_);
  clock_.Advance(milliseconds(13));
  const Table::Info info = table->GetInfo();
  EXPECT_EQ(info.sleeping_ms, 16);
  EXPECT_EQ(info.waiting_for_sampling_ms, 7);
  EXPECT_EQ(info.waiting_for_inserts_ms, 13);
}

}  // namespace
}  // namespace reverb
