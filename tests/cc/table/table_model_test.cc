// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Random programs against a naive model of a table, for every pair of
// selectors. What a selector picks at random is read from a log of the changes
// and checked to be allowed.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/rng.h"
#include "reverb/cc/table/table.h"
#include "tests/cc/table/table_fixture.h"
#include "tests/cc/testing/naive_selector.h"

namespace reverb {
namespace {

using ::testing::NanSensitiveDoubleEq;

enum class What { kInsert, kUpdate, kSample, kDelete, kReset };

struct Change {
  What what;
  ItemKey key = 0;
  double priority = 0;
  int32_t times_sampled = 0;
};

class ChangeLog final : public TableExtension {
 public:
  void OnInsert(const Event& e) override { Log(What::kInsert, e); }
  void OnUpdate(const Event& e) override { Log(What::kUpdate, e); }
  void OnSample(const Event& e) override { Log(What::kSample, e); }
  void OnDelete(const Event& e) override { Log(What::kDelete, e); }
  void OnReset() override { changes.push_back({What::kReset}); }
  std::string ToString() const override { return "ChangeLog"; }

  std::deque<Change> changes;

 private:
  void Log(What what, const Event& e) {
    changes.push_back({what, e.item.key(), e.priority, e.times_sampled});
  }
};

// Plain containers, one step at a time; throws at nothing, reports to gtest.
class NaiveTable {
 public:
  NaiveTable(const Table::Options& options, std::deque<Change>& changes)
      : options_(options),
        sampler_(options.sampler),
        remover_(options.remover),
        changes_(changes) {}

  struct Insertion {
    ItemKey key;
    double priority;
    std::vector<uint64_t> episodes;
  };

  void Insert(const Insertion& insertion) { inserts_.push_back(insertion); }
  void RequestSamples(int64_t count) { requests_.push_back({count, {}}); }
  void Mutate(const std::vector<PriorityUpdate>& updates,
              const std::vector<ItemKey>& deletes) {
    for (const PriorityUpdate& update : updates) {
      if (Refuses(update.priority)) return;
    }
    for (const ItemKey key : deletes) {
      if (items_.contains(key)) Delete(Expect(What::kDelete, key));
    }
    for (const PriorityUpdate& update : updates) {
      Update(update.key, update.priority);
    }
  }
  void Reset() {
    Expect(What::kReset, 0);
    items_.clear();
    sampler_.Clear();
    remover_.Clear();
    inserted = sampled = deleted = unique = deleted_episodes = 0;
  }

  // The order of spec/api.md 8.1.
  void Serve() {
    for (bool moved = true; moved;) {
      moved = false;
      if (!inserts_.empty() && CanInsert()) {
        InsertOne(inserts_.front());
        inserts_.pop_front();
        moved = true;
      }
      if (requests_.empty()) continue;
      auto& [count, samples] = requests_.front();
      while (static_cast<int64_t>(samples.size()) < count && CanSample()) {
        samples.push_back(SampleOne());
        moved = true;
      }
      if (static_cast<int64_t>(samples.size()) == count) Answer();
    }
    if (!requests_.empty() && !requests_.front().second.empty()) Answer();
  }

  struct NaiveSample {
    ItemKey key;
    double probability;
    double priority;
    int64_t table_size;
    int32_t times_sampled;
  };

  int64_t size() const { return static_cast<int64_t>(items_.size()); }
  int64_t num_episodes() const {
    std::set<uint64_t> episodes;
    for (const auto& [key, item] : items_) {
      episodes.insert(item.episodes.begin(), item.episodes.end());
    }
    return static_cast<int64_t>(episodes.size());
  }
  size_t waiting_inserts() const { return inserts_.size(); }
  size_t waiting_samples() const { return requests_.size(); }

  int64_t inserted = 0, sampled = 0, deleted = 0, unique = 0;
  int64_t deleted_episodes = 0;
  std::vector<std::pair<ItemKey, bool>> results;  // since they were cleared
  std::vector<std::vector<NaiveSample>> answers;

 private:
  struct NaiveItem {
    double priority;
    int32_t times_sampled;
    std::vector<uint64_t> episodes;
  };

  bool Refuses(double priority) const {
    for (const SelectorOptions* options :
         {&options_.sampler, &options_.remover}) {
      switch (options->kind) {
        case Kind::kPrioritized:
          if (!(priority >= 0)) return true;
          break;
        case Kind::kMinHeap:
        case Kind::kMaxHeap:
          if (std::isnan(priority)) return true;
          break;
        default:
          break;
      }
    }
    return false;
  }

  bool CanInsert() const {
    const RateLimiter::Options& limiter = options_.rate_limiter;
    return inserted + 1 - deleted <= limiter.min_size_to_sample ||
           static_cast<double>(inserted + 1) * limiter.samples_per_insert -
                   static_cast<double>(sampled) <=
               limiter.max_diff;
  }
  bool CanSample() const {
    const RateLimiter::Options& limiter = options_.rate_limiter;
    return inserted - deleted >= limiter.min_size_to_sample &&
           static_cast<double>(inserted) * limiter.samples_per_insert -
                   static_cast<double>(sampled) - 1 >=
               limiter.min_diff;
  }

  // Takes the next change from the log, which must be this, of `key` if given.
  ItemKey Expect(What what, std::optional<ItemKey> key = std::nullopt) {
    if (changes_.empty()) {
      ADD_FAILURE() << "a change is missing";
      return key.value_or(0);
    }
    last_ = changes_.front();
    changes_.pop_front();
    EXPECT_EQ(last_.what, what);
    EXPECT_EQ(last_.key, key.value_or(last_.key));
    return last_.key;
  }

  void Update(ItemKey key, double priority) {
    const auto it = items_.find(key);
    if (it == items_.end()) return;
    Expect(What::kUpdate, key);
    EXPECT_THAT(last_.priority, NanSensitiveDoubleEq(priority));
    it->second.priority = priority;
    sampler_.Update(key, priority);
    remover_.Update(key, priority);
  }

  void Delete(ItemKey key) {
    const int64_t before = num_episodes();
    items_.erase(key);
    deleted_episodes += before - num_episodes();
    sampler_.Delete(key);
    remover_.Delete(key);
    ++deleted;
  }

  void InsertOne(const Insertion& insertion) {
    const bool refused = Refuses(insertion.priority);
    results.emplace_back(insertion.key, !refused);
    if (refused) return;
    if (items_.contains(insertion.key)) {
      Update(insertion.key, insertion.priority);
      return;
    }
    Expect(What::kInsert, insertion.key);
    items_[insertion.key] = {insertion.priority, 0, insertion.episodes};
    sampler_.Insert(insertion.key, insertion.priority);
    remover_.Insert(insertion.key, insertion.priority);
    if (size() > options_.max_size) {
      const ItemKey evicted = Expect(What::kDelete);
      EXPECT_GT(remover_.ProbabilityOf(evicted), 0) << evicted;
      Delete(evicted);
    }
    ++inserted;
  }

  NaiveSample SampleOne() {
    ++sampled;
    const ItemKey key = Expect(What::kSample);
    const double probability = sampler_.ProbabilityOf(key);
    EXPECT_GT(probability, 0) << key;
    NaiveItem& item = items_[key];
    unique += item.times_sampled == 0;
    ++item.times_sampled;
    EXPECT_EQ(last_.times_sampled, item.times_sampled);
    const NaiveSample sample{key, probability, item.priority, size(),
                             item.times_sampled};
    if (options_.max_times_sampled >= 1 &&
        item.times_sampled >= options_.max_times_sampled) {
      Delete(Expect(What::kDelete, key));
    }
    return sample;
  }

  void Answer() {
    answers.push_back(std::move(requests_.front().second));
    requests_.pop_front();
  }

  const Table::Options options_;
  NaiveSelector sampler_;
  NaiveSelector remover_;
  std::deque<Change>& changes_;
  Change last_{What::kReset};
  std::map<ItemKey, NaiveItem> items_;
  std::deque<Insertion> inserts_;
  std::deque<std::pair<int64_t, std::vector<NaiveSample>>> requests_;
};

class TableModelTest
    : public TableFixture,
      public ::testing::WithParamInterface<std::tuple<Kind, Kind>> {
 protected:
  static Table::Options RandomOptions(Rng& rng) {
    Table::Options options = BaseOptions();
    options.sampler = {.kind = std::get<0>(GetParam()),
                       .priority_exponent = 0.7,
                       .seed = rng.Next()};
    options.remover = {.kind = std::get<1>(GetParam()),
                       .priority_exponent = 1,
                       .seed = rng.Next()};
    options.max_size = 1 + static_cast<int64_t>(rng.NextBelow(12));
    options.max_times_sampled = static_cast<int32_t>(rng.NextBelow(4)) - 1;
    switch (rng.NextBelow(3)) {
      case 0:
        options.rate_limiter =
            MinSize(1 + static_cast<int64_t>(rng.NextBelow(3)));
        break;
      case 1:
        options.rate_limiter = Queue(static_cast<double>(options.max_size));
        break;
      default:
        options.rate_limiter = {.samples_per_insert = 1.7,
                                .min_size_to_sample = 2,
                                .min_diff = -2,
                                .max_diff = 9};
    }
    return options;
  }

  void RunProgram(uint64_t seed) {
    // The last program's table has cancelled what waited.
    insert_sink_->Take();
    sample_sink_->Take();
    Rng rng(seed);
    auto log = std::make_shared<ChangeLog>();
    Table::Options options = RandomOptions(rng);
    options.extensions.push_back(log);
    auto table = Make(options);
    NaiveTable naive(options, log->changes);

    // Few keys and priorities, so that they repeat; a bad one now and then.
    const auto key = [&rng] { return rng.NextBelow(25); };
    const auto priority = [&rng] {
      const uint64_t value = rng.NextBelow(40);
      if (value == 0) return -1.0;
      if (value == 1) return std::numeric_limits<double>::quiet_NaN();
      return static_cast<double>(value % 5);
    };
    for (int step = 0; step < 250; ++step) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, " step ", step));
      switch (rng.NextBelow(8)) {
        case 0:
        case 1:
        case 2: {
          std::vector<InsertRequest> requests;
          for (uint64_t n = 1 + rng.NextBelow(6); n > 0; --n) {
            NaiveTable::Insertion insertion{key(), priority(), {}};
            std::vector<Ref<const Chunk>> chunks;
            for (uint64_t c = 1 + rng.NextBelow(3); c > 0; --c) {
              insertion.episodes.push_back(rng.NextBelow(6));
              chunks.push_back(TestChunk(insertion.episodes.back()));
            }
            requests.push_back(
                {TestItem(insertion.key, chunks), insertion.priority});
            naive.Insert(insertion);
          }
          table->Insert(std::move(requests), insert_sink_);
          break;
        }
        case 3:
        case 4:
        case 5: {
          // Not too many waiting, or nothing but waiting happens.
          if (naive.waiting_samples() > 3) continue;
          const int64_t count = 1 + static_cast<int64_t>(rng.NextBelow(6));
          naive.RequestSamples(count);
          table->RequestSamples({.num_samples = count}, sample_sink_);
          break;
        }
        case 6: {
          std::vector<PriorityUpdate> updates;
          for (uint64_t n = rng.NextBelow(4); n > 0; --n) {
            updates.push_back({key(), priority()});
          }
          std::vector<ItemKey> deletes;
          for (uint64_t n = rng.NextBelow(3); n > 0; --n) {
            deletes.push_back(key());
          }
          (void)table->Mutate(updates, deletes);
          naive.Mutate(updates, deletes);
          break;
        }
        default:
          if (rng.NextBelow(6) != 0) continue;
          ASSERT_TRUE(table->Reset().ok());
          naive.Reset();
      }
      executor_.RunAll();
      naive.Serve();
      Compare(*table, naive, log->changes);
      if (HasFailure()) return;
    }
  }

  void Compare(const Table& table, NaiveTable& naive,
               const std::deque<Change>& changes) {
    EXPECT_TRUE(changes.empty());
    std::vector<std::pair<ItemKey, bool>> results;
    for (const InsertResult& result : insert_sink_->Take()) {
      results.emplace_back(result.key, result.status.ok());
    }
    EXPECT_EQ(results, std::exchange(naive.results, {}));
    const auto answers = sample_sink_->Take();
    const auto expected = std::exchange(naive.answers, {});
    ASSERT_EQ(answers.size(), expected.size());
    for (size_t i = 0; i < answers.size(); ++i) {
      ASSERT_EQ(answers[i].samples.size(), expected[i].size());
      for (size_t j = 0; j < expected[i].size(); ++j) {
        const Sample& sample = answers[i].samples[j];
        EXPECT_EQ(sample.item->key(), expected[i][j].key);
        EXPECT_NEAR(sample.probability, expected[i][j].probability, 1e-9);
        EXPECT_THAT(sample.priority,
                    NanSensitiveDoubleEq(expected[i][j].priority));
        EXPECT_EQ(sample.table_size, expected[i][j].table_size);
        EXPECT_EQ(sample.times_sampled, expected[i][j].times_sampled);
      }
    }
    const Table::Info info = table.GetInfo();
    EXPECT_EQ(info.current_size, naive.size());
    EXPECT_EQ(info.counters.inserts, naive.inserted);
    EXPECT_EQ(info.counters.samples, naive.sampled);
    EXPECT_EQ(info.counters.deletes, naive.deleted);
    EXPECT_EQ(info.num_unique_samples, naive.unique);
    EXPECT_EQ(info.num_episodes, naive.num_episodes());
    EXPECT_EQ(info.num_deleted_episodes, naive.deleted_episodes);
    EXPECT_EQ(static_cast<size_t>(info.waiting_inserts),
              naive.waiting_inserts());
    EXPECT_EQ(static_cast<size_t>(info.waiting_samples),
              naive.waiting_samples());
  }
};

TEST_P(TableModelTest, RandomProgramsDoWhatTheModelDoes) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    RunProgram(seed);
    if (HasFailure()) return;
  }
}

const Kind kKinds[] = {Kind::kFifo,        Kind::kLifo,    Kind::kUniform,
                       Kind::kPrioritized, Kind::kMinHeap, Kind::kMaxHeap};

INSTANTIATE_TEST_SUITE_P(EveryPair, TableModelTest,
                         ::testing::Combine(::testing::ValuesIn(kKinds),
                                            ::testing::ValuesIn(kKinds)));

}  // namespace
}  // namespace reverb
