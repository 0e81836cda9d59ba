// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A table whose clock and executor are in the test's hands.

#ifndef TESTS_CC_TABLE_TABLE_FIXTURE_H_
#define TESTS_CC_TABLE_TABLE_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "reverb/cc/table/table.h"
#include "tests/cc/testing/fake_clock.h"
#include "tests/cc/testing/items.h"
#include "tests/cc/testing/manual_executor.h"
#include "tests/cc/testing/sinks.h"

namespace reverb {

using Kind = SelectorOptions::Kind;

class TableFixture : public ::testing::Test {
 protected:
  static RateLimiter::Options MinSize(int64_t n) {
    return {.samples_per_insert = 1,
            .min_size_to_sample = n,
            .min_diff = -std::numeric_limits<double>::max(),
            .max_diff = std::numeric_limits<double>::max()};
  }
  static RateLimiter::Options Queue(double size) {
    return {.samples_per_insert = 1,
            .min_size_to_sample = 1,
            .min_diff = 0,
            .max_diff = size};
  }

  // Fifo, 1000 items, MinSize(1).
  static Table::Options BaseOptions() {
    Table::Options options;
    options.name = "t";
    options.sampler.kind = Kind::kFifo;
    options.remover.kind = Kind::kFifo;
    options.max_size = 1000;
    options.rate_limiter = MinSize(1);
    return options;
  }
  static Table::Options QueueOptions(int64_t size) {
    Table::Options options = BaseOptions();
    options.max_size = size;
    options.max_times_sampled = 1;
    options.rate_limiter = Queue(static_cast<double>(size));
    return options;
  }

  std::shared_ptr<Table> Make(Table::Options options = BaseOptions()) {
    auto table = Table::Create(std::move(options), executor_, clock_);
    EXPECT_TRUE(table.ok()) << table.status();
    return *std::move(table);
  }

  // Inserts items of one episode and returns what came of it so far.
  std::vector<InsertResult> Insert(Table& table,
                                   const std::vector<ItemKey>& keys,
                                   double priority = 1) {
    std::vector<InsertRequest> requests;
    for (const ItemKey key : keys) {
      requests.push_back({TestItem(key), priority});
    }
    table.Insert(std::move(requests), insert_sink_);
    return insert_sink_->Take();
  }
  // Asks for samples that must come at once.
  std::vector<Sample> TakeSamples(Table& table, int64_t count) {
    table.RequestSamples({.num_samples = count}, sample_sink_);
    auto answers = sample_sink_->Take();
    if (answers.size() != 1) {
      ADD_FAILURE() << answers.size() << " answers";
      return {};
    }
    EXPECT_TRUE(answers[0].status.ok()) << answers[0].status;
    return std::move(answers[0].samples);
  }
  static std::vector<ItemKey> KeysOf(const std::vector<Sample>& samples) {
    std::vector<ItemKey> keys;
    for (const Sample& sample : samples) keys.push_back(sample.item->key());
    return keys;
  }
  static std::vector<ItemKey> KeysOf(const std::vector<InsertResult>& results,
                                     absl::StatusCode code) {
    std::vector<ItemKey> keys;
    for (const InsertResult& result : results) {
      EXPECT_EQ(result.status.code(), code) << result.status;
      keys.push_back(result.key);
    }
    return keys;
  }
  static std::vector<ItemKey> Range(ItemKey begin, ItemKey end) {
    std::vector<ItemKey> keys;
    for (ItemKey key = begin; key < end; ++key) keys.push_back(key);
    return keys;
  }

  FakeClock clock_;
  ManualExecutor executor_{clock_};
  std::shared_ptr<RecordingInsertSink> insert_sink_ =
      std::make_shared<RecordingInsertSink>();
  std::shared_ptr<RecordingSampleSink> sample_sink_ =
      std::make_shared<RecordingSampleSink>();
};

}  // namespace reverb

#endif  // TESTS_CC_TABLE_TABLE_FIXTURE_H_
