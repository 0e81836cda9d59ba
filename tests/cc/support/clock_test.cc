// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/clock.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace reverb {
namespace {

const SteadyTime kNow = SteadyTime(std::chrono::hours(1));

TEST(DeadlineAfter, AddsSeconds) {
  EXPECT_EQ(DeadlineAfter(kNow, 1.5), kNow + std::chrono::milliseconds(1500));
}

TEST(DeadlineAfter, NothingNegativeOrNanWaits) {
  EXPECT_EQ(DeadlineAfter(kNow, 0), kNow);
  EXPECT_EQ(DeadlineAfter(kNow, -3), kNow);
  EXPECT_EQ(DeadlineAfter(kNow, std::nan("")), kNow);
  EXPECT_EQ(DeadlineAfter(kNow, -std::numeric_limits<double>::infinity()),
            kNow);
}

TEST(DeadlineAfter, LongAndInfiniteWaitsHaveNoDeadline) {
  EXPECT_EQ(DeadlineAfter(kNow, 1e9), kNoDeadline);
  EXPECT_EQ(DeadlineAfter(kNow, 1e300), kNoDeadline);
  EXPECT_EQ(DeadlineAfter(kNow, std::numeric_limits<double>::infinity()),
            kNoDeadline);
}

TEST(RealClock, NeverGoesBack) {
  const SteadyTime before = Clock::Real().Now();
  EXPECT_LE(before, Clock::Real().Now());
  EXPECT_GT(Clock::Real().WallNanos(), int64_t{1'700'000'000} * 1'000'000'000);
}

}  // namespace
}  // namespace reverb
