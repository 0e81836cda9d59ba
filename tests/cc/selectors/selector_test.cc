// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The contract of all selectors, joined by one line at the end, and their
// agreement with a naive model.

#include "reverb/cc/selectors/selector.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/rng.h"
#include "tests/cc/testing/naive_selector.h"

namespace reverb {
namespace {

using Kind = SelectorOptions::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Param {
  std::string name;
  SelectorOptions options;
};

std::unique_ptr<Selector> Make(const SelectorOptions& options) {
  auto selector = CreateSelector(options);
  EXPECT_TRUE(selector.ok()) << selector.status();
  return *std::move(selector);
}

::testing::AssertionResult Allows(const NaiveSelector& naive,
                                  const Selector::Draw& draw) {
  const double expected = naive.ProbabilityOf(draw.slot);
  if (!(expected > 0)) {
    return ::testing::AssertionFailure() << "wrong slot " << draw.slot;
  }
  if (std::abs(draw.probability - expected) > 1e-9 * expected) {
    return ::testing::AssertionFailure()
           << "probability " << draw.probability << ", not " << expected;
  }
  return ::testing::AssertionSuccess();
}

class SelectorContract : public ::testing::TestWithParam<Param> {
 protected:
  std::unique_ptr<Selector> selector_ = Make(GetParam().options);
};

TEST_P(SelectorContract, ReturnsItsOnlyItemForSure) {
  selector_->Insert(7, 3);
  EXPECT_EQ(selector_->size(), 1);
  const Selector::Draw draw = selector_->Sample();
  EXPECT_EQ(draw.slot, 7);
  EXPECT_EQ(draw.probability, 1);
  EXPECT_EQ(selector_->size(), 1);
}

TEST_P(SelectorContract, AnOnlyItemOfPriorityZeroIsReturned) {
  selector_->Insert(0, 0);
  EXPECT_EQ(selector_->Sample().slot, 0);
  EXPECT_EQ(selector_->Sample().probability, 1);
}

TEST_P(SelectorContract, NeverReturnsADeletedItem) {
  for (Slot slot = 0; slot < 40; ++slot) selector_->Insert(slot, 1);
  for (Slot slot = 0; slot < 40; ++slot) {
    if (slot != 23) selector_->Delete(slot);
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(selector_->Sample().slot, 23);
}

TEST_P(SelectorContract, ClearForgetsAllAndIsUsableAgain) {
  for (Slot slot = 0; slot < 300; ++slot) selector_->Insert(slot, 2);
  selector_->Clear();
  EXPECT_EQ(selector_->size(), 0);
  selector_->Insert(5, 1);
  selector_->Insert(270, 0);
  selector_->Delete(270);
  EXPECT_EQ(selector_->size(), 1);
  EXPECT_EQ(selector_->Sample().slot, 5);
  EXPECT_EQ(selector_->Sample().probability, 1);
}

TEST_P(SelectorContract, TellsItsOptions) {
  EXPECT_EQ(selector_->options().kind, GetParam().options.kind);
  EXPECT_EQ(selector_->options().ToString(), GetParam().options.ToString());
}

TEST_P(SelectorContract, HoldsOrdinaryPriorities) {
  EXPECT_TRUE(selector_->CanHold({}).ok());
  EXPECT_TRUE(selector_->CanHold({0.0, -0.0, 1.0, 1e6, 1e-6}).ok());
  EXPECT_TRUE(CheckPriority(GetParam().options, 0.5).ok());
}

TEST_P(SelectorContract, CheckPriorityAgreesWithAnEmptySelector) {
  for (const double priority :
       {0.0, 1.0, -1.0, kInfinity, -kInfinity, kNan, 1e308, 1e-308, 5e-324}) {
    EXPECT_EQ(CheckPriority(GetParam().options, priority).code(),
              selector_->CanHold({priority}).code())
        << priority;
  }
}

TEST_P(SelectorContract, AgreesWithANaiveModel) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    selector_ = Make(GetParam().options);
    NaiveSelector naive(GetParam().options);
    Rng rng(seed);
    std::vector<Slot> present;
    std::vector<Slot> absent;
    for (Slot slot = 0; slot < 100; ++slot) absent.push_back(99 - slot);
    const auto take = [&rng](std::vector<Slot>& from) {
      const size_t i = rng.NextBelow(from.size());
      const Slot slot = from[i];
      from[i] = from.back();
      from.pop_back();
      return slot;
    };
    // Few values, so that there are ties and zeros.
    const auto priority = [&rng] {
      return static_cast<double>(rng.NextBelow(5)) / 2;
    };
    for (int step = 0; step < 3000; ++step) {
      const uint64_t what = rng.NextBelow(1000);
      if (what < 400 && !absent.empty()) {
        const Slot slot = take(absent);
        const double value = priority();
        selector_->Insert(slot, value);
        naive.Insert(slot, value);
        present.push_back(slot);
      } else if (what < 700 && !present.empty()) {
        const Slot slot = present[rng.NextBelow(present.size())];
        const double value = priority();
        selector_->Update(slot, value);
        naive.Update(slot, value);
      } else if (what < 998 && !present.empty()) {
        const Slot slot = take(present);
        selector_->Delete(slot);
        naive.Delete(slot);
        absent.push_back(slot);
      } else if (what >= 998) {
        selector_->Clear();
        naive.Clear();
        absent.insert(absent.end(), present.begin(), present.end());
        present.clear();
      }
      ASSERT_EQ(selector_->size(), present.size());
      if (!present.empty()) {
        ASSERT_TRUE(Allows(naive, selector_->Sample())) << "step " << step;
      }
    }
  }
}

TEST_P(SelectorContract, ABatchIsTheSameAsThatManySamples) {
  for (const bool all_zero : {false, true}) {
    for (const size_t count : {1, 15, 16, 17, 64, 200}) {
      auto single = Make(GetParam().options);
      auto batched = Make(GetParam().options);
      for (Slot slot = 0; slot < 5000; ++slot) {
        const double priority = all_zero ? 0 : slot % 17;
        single->Insert(slot, priority);
        batched->Insert(slot, priority);
      }
      for (int round = 0; round < 3; ++round) {
        std::vector<Selector::Draw> draws(count);
        batched->SampleBatch(absl::MakeSpan(draws));
        for (const Selector::Draw& draw : draws) {
          const Selector::Draw expected = single->Sample();
          ASSERT_EQ(draw.slot, expected.slot);
          ASSERT_EQ(draw.probability, expected.probability);
        }
      }
    }
  }
}

// One line per selector; the seed has no effect on most.
INSTANTIATE_TEST_SUITE_P(
    All, SelectorContract,
    ::testing::Values(
        Param{"Fifo", {.kind = Kind::kFifo, .seed = {}}},
        Param{"Lifo", {.kind = Kind::kLifo, .seed = {}}},
        Param{"Uniform", {.kind = Kind::kUniform, .seed = 3}},
        Param{"MinHeap", {.kind = Kind::kMinHeap, .seed = {}}},
        Param{"MaxHeap", {.kind = Kind::kMaxHeap, .seed = {}}},
        Param{"Proportional",
              {.kind = Kind::kPrioritized, .priority_exponent = 1, .seed = 3}},
        Param{
            "Prioritized",
            {.kind = Kind::kPrioritized, .priority_exponent = 0.6, .seed = 3}},
        Param{"Inverse",
              {.kind = Kind::kPrioritized, .priority_exponent = -1, .seed = 3}},
        Param{"ExponentZero",
              {.kind = Kind::kPrioritized, .priority_exponent = 0, .seed = 3}}),
    [](const auto& info) { return info.param.name; });

TEST(SelectorOptions, PrintAsTheyAlwaysDid) {
  EXPECT_EQ((SelectorOptions{.kind = Kind::kFifo, .seed = {}}).ToString(),
            "FifoSelector");
  EXPECT_EQ((SelectorOptions{.kind = Kind::kLifo, .seed = {}}).ToString(),
            "LifoSelector");
  EXPECT_EQ((SelectorOptions{.kind = Kind::kUniform, .seed = {}}).ToString(),
            "UniformSelector");
  EXPECT_EQ(
      (SelectorOptions{
           .kind = Kind::kPrioritized, .priority_exponent = 0.8, .seed = {}})
          .ToString(),
      "PrioritizedSelector(priority_exponent=0.8)");
  EXPECT_EQ((SelectorOptions{.kind = Kind::kMinHeap, .seed = {}}).ToString(),
            "HeapSelector(sign=1)");
  EXPECT_EQ((SelectorOptions{.kind = Kind::kMaxHeap, .seed = {}}).ToString(),
            "HeapSelector(sign=-1)");
}

TEST(SelectorOptions, OnlyRandomSelectorsAreNotDeterministic) {
  for (const Kind kind : {Kind::kFifo, Kind::kLifo, Kind::kUniform,
                          Kind::kPrioritized, Kind::kMinHeap, Kind::kMaxHeap}) {
    EXPECT_EQ((SelectorOptions{.kind = kind, .seed = {}}).IsDeterministic(),
              kind != Kind::kUniform && kind != Kind::kPrioritized);
  }
}

TEST(CreateSelector, RefusesAnExponentThatIsNotFinite) {
  for (const double exponent : {kNan, kInfinity, -kInfinity}) {
    const auto selector = CreateSelector({.kind = Kind::kPrioritized,
                                          .priority_exponent = exponent,
                                          .seed = {}});
    EXPECT_EQ(selector.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(selector.status().message(),
                ::testing::HasSubstr("priority_exponent"));
  }
}

TEST(InsertionOrderSelector, KeepsTheOrderOfTheRestAndIgnoresUpdates) {
  auto fifo = Make({.kind = Kind::kFifo, .seed = {}});
  auto lifo = Make({.kind = Kind::kLifo, .seed = {}});
  for (Selector* selector : {fifo.get(), lifo.get()}) {
    for (const Slot slot : {4, 2, 9, 1}) selector->Insert(slot, 1);
    selector->Update(4, 100);
    selector->Delete(2);
  }
  std::vector<Slot> oldest_first;
  std::vector<Slot> newest_first;
  while (fifo->size() > 0) {
    oldest_first.push_back(fifo->Sample().slot);
    fifo->Delete(oldest_first.back());
    newest_first.push_back(lifo->Sample().slot);
    lifo->Delete(newest_first.back());
  }
  EXPECT_THAT(oldest_first, ::testing::ElementsAre(4, 9, 1));
  EXPECT_THAT(newest_first, ::testing::ElementsAre(1, 9, 4));
}

TEST(HeapSelector, OfEqualPrioritiesTheLeastRecentlySetWins) {
  for (const Kind kind : {Kind::kMinHeap, Kind::kMaxHeap}) {
    auto heap = Make({.kind = kind, .seed = {}});
    for (const Slot slot : {0, 1, 2}) heap->Insert(slot, 5);
    EXPECT_EQ(heap->Sample().slot, 0);
    heap->Update(0, 5);  // To the same value: behind the others.
    EXPECT_EQ(heap->Sample().slot, 1);
    heap->Delete(1);
    EXPECT_EQ(heap->Sample().slot, 2);
  }
}

TEST(HeapSelector, OrdersInfinitePrioritiesAndRefusesNan) {
  auto heap = Make({.kind = Kind::kMaxHeap, .seed = {}});
  EXPECT_TRUE(heap->CanHold({kInfinity, -kInfinity}).ok());
  EXPECT_EQ(heap->CanHold({1, kNan}).code(),
            absl::StatusCode::kInvalidArgument);
  heap->Insert(0, -kInfinity);
  EXPECT_EQ(heap->Sample().slot, 0);
  heap->Insert(1, -1e300);
  EXPECT_EQ(heap->Sample().slot, 1);
  heap->Insert(2, kInfinity);
  EXPECT_EQ(heap->Sample().slot, 2);
}

}  // namespace
}  // namespace reverb
