// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/selectors/prioritized.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/selectors/uniform.h"
#include "reverb/cc/support/rng.h"
#include "tests/cc/testing/chi_square.h"

namespace reverb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PrioritizedSelector Make(double exponent, uint64_t seed = 1) {
  return PrioritizedSelector({.kind = SelectorOptions::Kind::kPrioritized,
                              .priority_exponent = exponent,
                              .seed = seed});
}

std::vector<int64_t> Count(Selector& selector, size_t slots, int64_t draws) {
  std::vector<int64_t> counts(slots);
  std::vector<Selector::Draw> batch(100);
  for (int64_t i = 0; i < draws / 100; ++i) {
    selector.SampleBatch(absl::MakeSpan(batch));
    for (const Selector::Draw& draw : batch) ++counts[draw.slot];
  }
  return counts;
}

TEST(PrioritizedSelector, DrawsInProportionToTheWeights) {
  for (const double exponent : {1.0, 0.6, 0.0, -0.5}) {
    constexpr size_t kSlots = 300;
    PrioritizedSelector selector = Make(exponent, 11);
    std::vector<double> weights(kSlots);
    double total = 0;
    for (Slot slot = 0; slot < kSlots; ++slot) {
      const double priority = slot % 7;
      selector.Insert(slot, priority);
      weights[slot] = priority == 0 ? 0 : std::pow(priority, exponent);
      total += weights[slot];
    }
    size_t classes = 0;
    for (double& weight : weights) {
      weight /= total;
      classes += weight > 0;
    }
    EXPECT_LT(ChiSquare(Count(selector, kSlots, 200'000), weights),
              ChiSquareBound(classes))
        << exponent;
  }
}

TEST(PrioritizedSelector, DrawsUniformlyWhileAllWeightsAreZero) {
  constexpr size_t kSlots = 50;
  PrioritizedSelector selector = Make(0.5, 12);
  for (Slot slot = 0; slot < kSlots; ++slot) selector.Insert(slot, 0);
  EXPECT_EQ(selector.Sample().probability, 1.0 / kSlots);
  EXPECT_LT(ChiSquare(Count(selector, kSlots, 100'000),
                      std::vector<double>(kSlots, 1.0 / kSlots)),
            ChiSquareBound(kSlots));
  selector.Update(31, 1e-300);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(selector.Sample().slot, 31);
}

TEST(UniformSelector, DrawsUniformly) {
  constexpr size_t kSlots = 50;
  UniformSelector selector(
      {.kind = SelectorOptions::Kind::kUniform, .seed = 13});
  for (Slot slot = 0; slot < kSlots; ++slot) selector.Insert(slot, slot);
  EXPECT_LT(ChiSquare(Count(selector, kSlots, 100'000),
                      std::vector<double>(kSlots, 1.0 / kSlots)),
            ChiSquareBound(kSlots));
}

TEST(PrioritizedSelector, RefusesWhatIsNoWeight) {
  PrioritizedSelector selector = Make(0.5);
  for (const double priority : {kNan, -1.0, -1e-300, kInfinity, -kInfinity}) {
    const absl::Status status = selector.CanHold({1, priority});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << priority;
  }
  EXPECT_THAT(selector.CanHold({-2.5}).message(), ::testing::HasSubstr("-2.5"));
}

TEST(PrioritizedSelector, RefusesAPowerThatIsNotFinite) {
  EXPECT_FALSE(Make(2).CanHold({1e200}).ok());
  EXPECT_TRUE(Make(2).CanHold({1e150}).ok());
  EXPECT_FALSE(Make(-2).CanHold({1e-200}).ok());
}

TEST(PrioritizedSelector, RefusesATotalThatIsNotFinite) {
  PrioritizedSelector selector = Make(1);
  EXPECT_TRUE(selector.CanHold({1e308}).ok());
  EXPECT_FALSE(selector.CanHold({1e308, 1e308}).ok());
  selector.Insert(0, 1e308);
  EXPECT_FALSE(selector.CanHold({1e308}).ok());
  EXPECT_TRUE(selector.CanHold({1e307}).ok());
  selector.Delete(0);
  EXPECT_TRUE(selector.CanHold({1e308}).ok());
}

TEST(PrioritizedSelector, AWeightThatUnderflowsStaysPositive) {
  PrioritizedSelector selector = Make(2);
  selector.Insert(0, 0);
  selector.Insert(1, 1e-200);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(selector.Sample().slot, 1);
  EXPECT_EQ(selector.Sample().probability, 1);
}

TEST(PrioritizedSelector, NeverReturnsAZeroWeightBesideHugeAndTinyOnes) {
  // Sums of such weights round a lot.
  PrioritizedSelector selector = Make(1, 5);
  Rng rng(77);
  for (Slot slot = 0; slot < 4000; ++slot) {
    const double priority =
        slot % 3 == 0
            ? 0
            : std::pow(10, static_cast<double>(rng.NextBelow(600)) - 300.0);
    selector.Insert(slot, priority);
  }
  std::vector<Selector::Draw> draws(64);
  for (int round = 0; round < 500; ++round) {
    selector.SampleBatch(absl::MakeSpan(draws));
    for (const Selector::Draw& draw : draws) {
      ASSERT_NE(draw.slot % 3, 0);
      ASSERT_GT(draw.probability, 0);
    }
    for (int i = 0; i < 8; ++i) {
      const Slot slot = static_cast<Slot>(rng.NextBelow(4000));
      if (slot % 3 != 0) {
        selector.Update(
            slot,
            std::pow(10, static_cast<double>(rng.NextBelow(600)) - 300.0));
      }
    }
  }
}

TEST(PrioritizedSelector, TheSameSeedDrawsTheSame) {
  PrioritizedSelector a = Make(1, 99);
  PrioritizedSelector b = Make(1, 99);
  for (Slot slot = 0; slot < 100; ++slot) {
    a.Insert(slot, slot);
    b.Insert(slot, slot);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Sample().slot, b.Sample().slot);
}

}  // namespace
}  // namespace reverb
