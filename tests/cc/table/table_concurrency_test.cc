// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Several threads on one table: nothing is lost, nothing comes twice, nobody
// waits for ever.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/executor.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/table/table.h"
#include "tests/cc/testing/items.h"
#include "tests/cc/testing/sinks.h"

namespace reverb {
namespace {

Table::Options QueueOptions(int64_t size) {
  Table::Options options;
  options.name = "queue";
  options.sampler.kind = SelectorOptions::Kind::kFifo;
  options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = size;
  options.max_times_sampled = 1;
  options.rate_limiter = {.samples_per_insert = 1,
                          .min_size_to_sample = 1,
                          .min_diff = 0,
                          .max_diff = static_cast<double>(size)};
  return options;
}

class TableConcurrencyTest : public ::testing::Test {
 protected:
  std::shared_ptr<Table> Make(Table::Options options) {
    return *Table::Create(std::move(options), *executor_);
  }

  std::unique_ptr<Executor> executor_ = Executor::Create(2);
};

TEST_F(TableConcurrencyTest, AQueuePassesEveryItemOnOnceAndInOrder) {
  constexpr int kProducers = 2;
  constexpr int kConsumers = 2;
  constexpr int64_t kEach = 4000;
  auto table = Make(QueueOptions(20));
  std::vector<std::thread> threads;
  for (int p = 0; p < kProducers; ++p) {
    threads.emplace_back([&table, p] {
      auto sink = std::make_shared<RecordingInsertSink>();
      Rng rng(p);
      for (int64_t next = 0; next < kEach;) {
        const int64_t count = std::min<int64_t>(
            kEach - next, 1 + static_cast<int64_t>(rng.NextBelow(100)));
        std::vector<InsertRequest> requests;
        for (int64_t i = 0; i < count; ++i) {
          requests.push_back({TestItem(p * kEach + next + i), 1});
        }
        table->Insert(std::move(requests), sink);
        for (const InsertResult& result : sink->WaitFor(count)) {
          EXPECT_TRUE(result.status.ok()) << result.status;
        }
        next += count;
      }
    });
  }
  std::atomic<int64_t> missing = kProducers * kEach;
  std::vector<std::vector<ItemKey>> taken(kConsumers);
  for (int c = 0; c < kConsumers; ++c) {
    threads.emplace_back([&, c] {
      auto sink = std::make_shared<RecordingSampleSink>();
      Rng rng(100 + c);
      while (missing > 0) {
        table->RequestSamples(
            {.num_samples = 1 + static_cast<int64_t>(rng.NextBelow(50))}, sink);
        const auto answer = sink->WaitForOne();
        if (!answer.status.ok()) break;  // Closed: the other one was last.
        for (const Sample& sample : answer.samples) {
          taken[c].push_back(sample.item->key());
        }
        missing -= static_cast<int64_t>(answer.samples.size());
        if (missing == 0) table->Close();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<ItemKey> all;
  for (const auto& keys : taken) {
    int64_t last[kProducers] = {-1, -1};
    for (const ItemKey key : keys) {
      EXPECT_TRUE(all.insert(key).second) << key;
      // In order per producer, as each consumer sees it.
      EXPECT_GT(static_cast<int64_t>(key), last[key / kEach]);
      last[key / kEach] = static_cast<int64_t>(key);
    }
  }
  EXPECT_EQ(all.size(), kProducers * kEach);
}

TEST_F(TableConcurrencyTest, EveryRequestIsAnsweredWhateverHappensBeside) {
  Table::Options options = QueueOptions(50);
  options.max_times_sampled = 3;
  options.sampler = {.kind = SelectorOptions::Kind::kPrioritized,
                     .priority_exponent = 0.5,
                     .seed = 1};
  options.rate_limiter.samples_per_insert = 2;
  auto table = Make(options);
  constexpr int kRounds = 300;
  constexpr int64_t kBatch = 90;

  std::atomic<bool> done = false;
  std::thread disturber([&] {
    Rng rng(7);
    while (!done) {
      const ItemKey key = rng.NextBelow(1000);
      switch (rng.NextBelow(4)) {
        case 0:
          EXPECT_TRUE(table->Mutate({{key, 2}}, {key + 1}).ok());
          break;
        case 1:
          if (rng.NextBelow(20) == 0) {
            EXPECT_TRUE(table->Reset().ok());
          }
          break;
        case 2: {
          auto sink = std::make_shared<RecordingSampleSink>();
          table->WithdrawSamples(
              table->RequestSamples({.num_samples = 1}, sink));
          break;
        }
        default:
          (void)table->GetInfo();
      }
    }
  });
  std::thread inserter([&] {
    auto sink = std::make_shared<RecordingInsertSink>();
    for (int round = 0; round < kRounds; ++round) {
      std::vector<InsertRequest> requests;
      for (int64_t i = 0; i < kBatch; ++i) {
        requests.push_back({TestItem((round * kBatch + i) % 1000), 1});
      }
      table->Insert(std::move(requests), sink,
                    DeadlineAfter(Clock::Real().Now(), 0.002));
      sink->WaitFor(kBatch);
    }
  });
  std::thread sampler([&] {
    auto sink = std::make_shared<RecordingSampleSink>();
    for (int round = 0; round < kRounds; ++round) {
      table->RequestSamples(
          {.num_samples = kBatch,
           .deadline = DeadlineAfter(Clock::Real().Now(), 0.002)},
          sink);
      const auto answer = sink->WaitForOne();
      EXPECT_EQ(answer.samples.empty(), !answer.status.ok());
    }
  });
  inserter.join();
  sampler.join();
  done = true;
  disturber.join();
  const Table::Info info = table->GetInfo();
  EXPECT_EQ(info.waiting_inserts, 0);
  EXPECT_EQ(info.waiting_samples, 0);
  EXPECT_EQ(info.counters.inserts - info.counters.deletes, info.current_size);
}

}  // namespace
}  // namespace reverb
