// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/rate_limiter.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();

RateLimiter Make(double spi, int64_t min_size, double min_diff,
                 double max_diff) {
  return *RateLimiter::Create({.samples_per_insert = spi,
                               .min_size_to_sample = min_size,
                               .min_diff = min_diff,
                               .max_diff = max_diff});
}

// As the steps of a table would.
int64_t CountSteps(RateLimiter limiter, int64_t wanted) {
  int64_t n = 0;
  while (n < wanted && limiter.CanSample(1)) {
    limiter.DidSample();
    ++n;
  }
  return n;
}

TEST(RateLimiter, FollowsTheWorkedExample) {
  // SampleToInsertRatio(2.0, 3, 4.0).
  RateLimiter limiter = Make(2, 3, 2, 10);
  for (int i = 0; i < 3; ++i) limiter.DidInsert();
  for (int n = 1; n <= 4; ++n) EXPECT_TRUE(limiter.CanSample(n));
  EXPECT_FALSE(limiter.CanSample(5));
  EXPECT_TRUE(limiter.CanInsert(1));
  EXPECT_TRUE(limiter.CanInsert(2));
  EXPECT_FALSE(limiter.CanInsert(3));
  EXPECT_EQ(limiter.SamplesAllowed(100), 4);
}

TEST(RateLimiter, MinSizeLimitsSamplesOnly) {
  RateLimiter limiter = Make(1, 2, -kMax, kMax);
  EXPECT_TRUE(limiter.CanInsert(1));
  EXPECT_FALSE(limiter.CanSample(1));
  limiter.DidInsert();
  EXPECT_EQ(limiter.SamplesAllowed(7), 0);
  limiter.DidInsert();
  EXPECT_TRUE(limiter.CanSample(kMaxInt));
  EXPECT_TRUE(limiter.CanInsert(kMaxInt));
  EXPECT_EQ(limiter.SamplesAllowed(kMaxInt), kMaxInt);
  limiter.DidSample(1'000'000);
  EXPECT_TRUE(limiter.CanSample(1));
}

TEST(RateLimiter, BelowTheMinimumSizeInsertsAreAlwaysAllowed) {
  RateLimiter limiter = Make(1, 2, 0, 2);
  limiter.DidInsert();
  limiter.DidInsert();
  EXPECT_FALSE(limiter.CanInsert(1));
  limiter.DidDelete();
  EXPECT_TRUE(limiter.CanInsert(1));
  EXPECT_FALSE(limiter.CanInsert(2));
  EXPECT_FALSE(limiter.CanSample(1));
}

TEST(RateLimiter, AQueueAlternates) {
  RateLimiter limiter = Make(1, 1, 0, 1);
  EXPECT_FALSE(limiter.CanSample(1));
  limiter.DidInsert();
  EXPECT_FALSE(limiter.CanInsert(1));
  EXPECT_TRUE(limiter.CanSample(1));
  EXPECT_FALSE(limiter.CanSample(2));
  limiter.DidSample();
  limiter.DidDelete();
  EXPECT_TRUE(limiter.CanInsert(1));
}

TEST(RateLimiter, ResetZeroesTheCounters) {
  RateLimiter limiter = Make(1, 1, 0, 1);
  limiter.DidInsert();
  limiter.DidSample();
  limiter.DidDelete();
  limiter.Reset();
  EXPECT_EQ(limiter.counters().inserts, 0);
  EXPECT_EQ(limiter.counters().samples, 0);
  EXPECT_EQ(limiter.counters().deletes, 0);
}

TEST(RateLimiter, RefusesOptionsOutOfRange) {
  const RateLimiter::Options good{.samples_per_insert = 1,
                                  .min_size_to_sample = 1,
                                  .min_diff = 0,
                                  .max_diff = 1};
  EXPECT_TRUE(RateLimiter::Create(good).ok());
  const auto refuses = [](const RateLimiter::Options& options,
                          const char* text) {
    const absl::Status status = RateLimiter::Create(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), ::testing::HasSubstr(text));
  };
  for (const double spi :
       {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    RateLimiter::Options options = good;
    options.samples_per_insert = spi;
    refuses(options, "samples_per_insert");
  }
  RateLimiter::Options options = good;
  options.min_size_to_sample = 0;
  refuses(options, "min_size_to_sample");
  options = good;
  options.min_diff = 2;
  refuses(options, "min_diff");
  options = good;
  options.max_diff = kNan;
  refuses(options, "max_diff");
}

TEST(RateLimiter, PrintsAsItAlwaysDid) {
  EXPECT_EQ((RateLimiter::Options{.samples_per_insert = 1.5,
                                  .min_size_to_sample = 3,
                                  .min_diff = -kMax,
                                  .max_diff = 7})
                .ToString(),
            "RateLimiter(samples_per_insert=1.5, min_diff_=-1.79769e+308, "
            "max_diff=7, min_size_to_sample=3)");
}

TEST(RateLimiter, SamplesAllowedIsWhatSingleStepsGive) {
  Rng rng(8);
  for (int round = 0; round < 2000; ++round) {
    // Ratios and bounds that round.
    const double spi = 0.1 * static_cast<double>(1 + rng.NextBelow(40));
    const double min_diff =
        0.1 * (static_cast<double>(rng.NextBelow(400)) - 200);
    RateLimiter limiter =
        Make(spi, 1 + static_cast<int64_t>(rng.NextBelow(4)), min_diff, kMax);
    const uint64_t inserts = rng.NextBelow(60);
    for (uint64_t i = 0; i < inserts; ++i) limiter.DidInsert();
    limiter.DidSample(
        static_cast<int64_t>(spi * static_cast<double>(rng.NextBelow(60))));
    for (const int64_t wanted : {1, 2, 7, 64, 500}) {
      ASSERT_EQ(limiter.SamplesAllowed(wanted), CountSteps(limiter, wanted))
          << limiter.options().ToString();
    }
  }
}

TEST(RateLimiter, NeverLeavesItsBounds) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    const double spi = 0.25 * static_cast<double>(1 + rng.NextBelow(16));
    const int64_t min_size = 1 + static_cast<int64_t>(rng.NextBelow(5));
    const double offset = spi * static_cast<double>(min_size);
    const double buffer = (spi > 1 ? spi : 1) + 0.25 * rng.NextBelow(9);
    RateLimiter limiter = Make(spi, min_size, offset - buffer, offset + buffer);
    int64_t size = 0;
    for (int step = 0; step < 2000; ++step) {
      const auto cursor = [&limiter, spi] {
        return static_cast<double>(limiter.counters().inserts) * spi -
               static_cast<double>(limiter.counters().samples);
      };
      switch (rng.NextBelow(5)) {
        case 0:
        case 1:
          if (limiter.CanInsert(1)) {
            limiter.DidInsert();
            ++size;
            EXPECT_TRUE(cursor() <= offset + buffer || size <= min_size);
          }
          break;
        case 2:
        case 3:
          if (limiter.CanSample(1)) {
            EXPECT_GE(size, min_size);
            limiter.DidSample();
            EXPECT_GE(cursor(), offset - buffer);
          }
          break;
        default:
          if (size > 0 && rng.NextBelow(10) == 0) {
            limiter.DidDelete();
            --size;
          }
      }
      ASSERT_EQ(limiter.counters().inserts - limiter.counters().deletes, size);
      // Never stuck both ways.
      ASSERT_TRUE(limiter.CanInsert(1) || limiter.CanSample(1));
    }
  }
}

}  // namespace
}  // namespace reverb
