// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/rng.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <set>

#include "gtest/gtest.h"

namespace reverb {
namespace {

TEST(Rng, GivesThePublishedSequence) {
  Rng rng(0);
  EXPECT_EQ(rng.Next(), 5987356902031041503u);
  EXPECT_EQ(rng.Next(), 7051070477665621255u);
  EXPECT_EQ(rng.Next(), 6633766593972829180u);
  EXPECT_EQ(rng.Next(), 211316841551650330u);
}

TEST(Rng, DoublesAreInTheHalfOpenUnitInterval) {
  Rng rng(1);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = rng.NextDouble();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  // Six standard deviations of the mean: 6 / sqrt(12 * 10000).
  EXPECT_NEAR(sum / 10000, 0.5, 0.0174);
}

TEST(Rng, BoundedDrawsAreUniform) {
  Rng rng(2);
  constexpr int kCells = 10;
  constexpr int kPerCell = 10000;
  int counts[kCells] = {};
  for (int i = 0; i < kCells * kPerCell; ++i) {
    const uint64_t x = rng.NextBelow(kCells);
    ASSERT_LT(x, uint64_t{kCells});
    ++counts[x];
  }
  double chi2 = 0;
  for (const int count : counts) {
    const double off = count - kPerCell;
    chi2 += off * off / kPerCell;
  }
  EXPECT_LT(chi2, 33.7);  // 9 degrees of freedom, p = 1e-4
  EXPECT_EQ(rng.NextBelow(1), 0u);
}

TEST(Rng, BoundedDrawTakesExactlyOneStep) {
  Rng a(3), b(3);
  a.NextBelow(7);
  a.NextDouble();
  b.Next();
  b.Next();
  EXPECT_EQ(a.Next(), b.Next());
}

TEST(RandomKey, Differs) {
  std::set<uint64_t> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(RandomKey());
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_NE(Rng::FromEntropy().Next(), Rng::FromEntropy().Next());
}

TEST(RandomKey, ForkedChildDrawsOtherKeys) {
  RandomKey();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const uint64_t key = RandomKey();
    _exit(write(ends[1], &key, sizeof(key)) == sizeof(key) ? 0 : 1);
  }
  uint64_t key = 0;
  EXPECT_EQ(read(ends[0], &key, sizeof(key)), ssize_t{sizeof(key)});
  EXPECT_NE(key, RandomKey());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace reverb
