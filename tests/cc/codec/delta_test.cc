// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/codec/delta.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

template <typename T>
absl::Span<char> Bytes(std::vector<T>& values) {
  return {reinterpret_cast<char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Delta, AppliesToPlainIntegersOfRankTwo) {
  EXPECT_TRUE(DeltaApplies(DType::kInt32, 2));
  EXPECT_TRUE(DeltaApplies(DType::kUint8, 4));
  EXPECT_FALSE(DeltaApplies(DType::kInt32, 1));
  EXPECT_FALSE(DeltaApplies(DType::kFloat32, 2));
  EXPECT_FALSE(DeltaApplies(DType::kBool, 2));
  EXPECT_FALSE(DeltaApplies(DType::kString, 2));
}

TEST(Delta, StoresDifferencesOfRows) {
  std::vector<int32_t> values = {1, 10, 3, 30, 2, 70};
  DeltaEncode(DType::kInt32, 3, Bytes(values));
  EXPECT_EQ(values, (std::vector<int32_t>{1, 10, 2, 20, -1, 40}));
  DeltaDecode(DType::kInt32, 3, Bytes(values));
  EXPECT_EQ(values, (std::vector<int32_t>{1, 10, 3, 30, 2, 70}));
}

TEST(Delta, WrapsAround) {
  std::vector<int8_t> values = {127, -128, 127};
  DeltaEncode(DType::kInt8, 3, Bytes(values));
  EXPECT_EQ(values, (std::vector<int8_t>{127, 1, -1}));
  DeltaDecode(DType::kInt8, 3, Bytes(values));
  EXPECT_EQ(values, (std::vector<int8_t>{127, -128, 127}));
}

template <typename T>
void CompareWithTheDefinition(DType dtype, uint64_t seed) {
  Rng rng(seed);
  for (int round = 0; round < 60; ++round) {
    const size_t rows = 1 + rng.NextBelow(9);
    const size_t width = 1 + rng.NextBelow(70);
    std::vector<T> values(rows * width);
    for (T& value : values) value = static_cast<T>(rng.Next());
    std::vector<T> expected = values;
    for (size_t i = values.size(); i > width; --i) {
      expected[i - 1] = static_cast<T>(values[i - 1] - values[i - 1 - width]);
    }
    std::vector<T> encoded = values;
    DeltaEncode(dtype, static_cast<int64_t>(rows), Bytes(encoded));
    ASSERT_EQ(encoded, expected) << rows << " x " << width;
    DeltaDecode(dtype, static_cast<int64_t>(rows), Bytes(encoded));
    ASSERT_EQ(encoded, values) << rows << " x " << width;
  }
}

TEST(Delta, AgreesWithTheDefinitionInEveryWidth) {
  CompareWithTheDefinition<uint8_t>(DType::kUint8, 1);
  CompareWithTheDefinition<uint8_t>(DType::kInt8, 2);
  CompareWithTheDefinition<uint16_t>(DType::kUint16, 3);
  CompareWithTheDefinition<uint16_t>(DType::kInt16, 4);
  CompareWithTheDefinition<uint32_t>(DType::kUint32, 5);
  CompareWithTheDefinition<uint32_t>(DType::kInt32, 6);
  CompareWithTheDefinition<uint64_t>(DType::kUint64, 7);
  CompareWithTheDefinition<uint64_t>(DType::kInt64, 8);
}

TEST(Delta, EmptyRowsAreFine) {
  DeltaEncode(DType::kInt32, 5, {});
  DeltaDecode(DType::kInt32, 5, {});
}

}  // namespace
}  // namespace reverb
