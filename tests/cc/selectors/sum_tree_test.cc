// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/selectors/sum_tree.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

TEST(SumTree, TotalIsTheSumWhateverTheOrderOfGrowth) {
  for (const size_t first : {0, 15, 16, 255, 256, 5000, 70000}) {
    SumTree tree;
    tree.Set(first, 3);
    tree.Set(0, 2);
    EXPECT_EQ(tree.total(), first == 0 ? 2 : 5) << first;
    tree.Set(70001, 4);
    EXPECT_EQ(tree.total(), first == 0 ? 6 : 9) << first;
    EXPECT_EQ(tree.Get(70001), 4);
    EXPECT_EQ(tree.Get(1'000'000), 0);
  }
}

TEST(SumTree, FindsTheIndexUnderAFraction) {
  SumTree tree;
  tree.Set(3, 1);
  tree.Set(400, 2);
  tree.Set(5000, 1);
  EXPECT_EQ(tree.Find(0), 3);
  EXPECT_EQ(tree.Find(0.2499), 3);
  EXPECT_EQ(tree.Find(0.25), 400);
  EXPECT_EQ(tree.Find(0.7499), 400);
  EXPECT_EQ(tree.Find(0.75), 5000);
  EXPECT_EQ(tree.Find(0x1.fffffffffffffp-1), 5000);
}

TEST(SumTree, AFractionOfOneStillFindsAWeight) {
  // More than can be drawn, as rounding could make it.
  SumTree tree;
  tree.Set(1, 0.1);
  tree.Set(17, 0.2);
  tree.Set(18, 0);
  EXPECT_EQ(tree.Find(1.0), 17);
}

TEST(SumTree, ErrorsDoNotBuildUp) {
  SumTree tree;
  Rng rng(4);
  for (size_t i = 0; i < 1000; ++i) tree.Set(i, 1);
  for (int round = 0; round < 100'000; ++round) {
    const size_t index = rng.NextBelow(1000);
    tree.Set(index, 1e15 * rng.NextDouble());
    tree.Set(index, 1);
  }
  EXPECT_EQ(tree.total(), 1000);
  for (size_t i = 0; i < 1000; ++i) tree.Set(i, 0);
  EXPECT_EQ(tree.total(), 0);
}

TEST(SumTree, ClearedIsAsNew) {
  SumTree tree;
  for (size_t i = 0; i < 1000; ++i) tree.Set(i, 1);
  tree.Clear();
  EXPECT_EQ(tree.total(), 0);
  EXPECT_EQ(tree.Get(20), 0);
  tree.Set(999, 2);
  EXPECT_EQ(tree.total(), 2);
  EXPECT_EQ(tree.Find(0.5), 999);
}

}  // namespace
}  // namespace reverb
