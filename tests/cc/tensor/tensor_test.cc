// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/tensor/tensor.h"

#include <cstdint>
#include <optional>

#include "gtest/gtest.h"

namespace reverb {
namespace {

constexpr int64_t kBig = int64_t{1} << 40;

TEST(NumElements, IsTheProduct) {
  EXPECT_EQ(NumElements({}), 1);
  EXPECT_EQ(NumElements({3, 84, 84}), 3 * 84 * 84);
  EXPECT_EQ(NumElements({3, 0, 84}), 0);
  EXPECT_EQ(NumElements({INT64_MAX}), INT64_MAX);
}

TEST(NumElements, NegativeAndOverflowingShapesHaveNone) {
  EXPECT_EQ(NumElements({-1}), std::nullopt);
  EXPECT_EQ(NumElements({0, -1}), std::nullopt);
  EXPECT_EQ(NumElements({kBig, kBig}), std::nullopt);
  EXPECT_EQ(NumElements({kBig, kBig, 0}), std::nullopt);
  EXPECT_EQ(NumElements({0, kBig, kBig}), std::nullopt);
  EXPECT_EQ(NumElements({INT64_MAX, 2}), std::nullopt);
}

TEST(ShapeString, LooksLikeNumPys) {
  EXPECT_EQ(ShapeString({}), "()");
  EXPECT_EQ(ShapeString({3}), "(3,)");
  EXPECT_EQ(ShapeString({3, 84, 84}), "(3, 84, 84)");
}

}  // namespace
}  // namespace reverb
