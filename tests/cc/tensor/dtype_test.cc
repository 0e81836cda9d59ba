// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/tensor/dtype.h"

#include <cstdint>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace reverb {
namespace {

TEST(DType, WireNumbersThatHoldNoValuesAreRefused) {
  for (const int64_t number : {0, 20, 21, 26, 27, 28, 31, 101, 255, 256}) {
    EXPECT_FALSE(DTypeFromWire(number).has_value()) << number;
  }
  EXPECT_FALSE(DTypeFromWire(-1).has_value());
  EXPECT_FALSE(DTypeFromWire(INT64_MAX).has_value());
  EXPECT_FALSE(DTypeFromWire(int64_t{1} << 32 | 1).has_value());
}

TEST(DType, EveryWireNumberHasItsOwnNameAndASize) {
  std::set<std::string> names;
  for (int64_t number = 0; number < 256; ++number) {
    const auto dtype = DTypeFromWire(number);
    if (!dtype) continue;
    EXPECT_EQ(static_cast<int64_t>(*dtype), number);
    names.insert(std::string(DTypeName(*dtype)));
    EXPECT_EQ(ElementSize(*dtype) == 0, *dtype == DType::kString);
  }
  EXPECT_EQ(names.size(), 25u);
}

TEST(DType, NamesAreNumPys) {
  EXPECT_EQ(DTypeName(DType::kFloat32), "float32");
  EXPECT_EQ(DTypeName(DType::kBool), "bool");
  EXPECT_EQ(DTypeName(DType::kComplex128), "complex128");
  EXPECT_EQ(DTypeName(DType::kFloat8E4m3fn), "float8_e4m3fn");
  EXPECT_EQ(DTypeName(DType::kUint4), "uint4");
  EXPECT_EQ(DTypeName(DType::kString), "string");
  EXPECT_EQ(DTypeName(DType::kInvalid), "invalid");
  EXPECT_EQ(DTypeName(static_cast<DType>(200)), "invalid");
}

TEST(DType, SizesAreThoseOfTheWire) {
  EXPECT_EQ(ElementSize(DType::kComplex128), 16u);
  EXPECT_EQ(ElementSize(DType::kFloat64), 8u);
  EXPECT_EQ(ElementSize(DType::kUint32), 4u);
  EXPECT_EQ(ElementSize(DType::kBfloat16), 2u);
  EXPECT_EQ(ElementSize(DType::kInt4), 1u);
  EXPECT_EQ(ElementSize(static_cast<DType>(200)), 0u);
}

TEST(DType, DeltaIsForTheEightPlainIntegers) {
  int count = 0;
  for (int64_t number = 0; number < 256; ++number) {
    count += IsDeltaType(static_cast<DType>(number)) ? 1 : 0;
  }
  EXPECT_EQ(count, 8);
  EXPECT_TRUE(IsDeltaType(DType::kInt8));
  EXPECT_TRUE(IsDeltaType(DType::kUint64));
  EXPECT_FALSE(IsDeltaType(DType::kBool));
  EXPECT_FALSE(IsDeltaType(DType::kQint8));
  EXPECT_FALSE(IsDeltaType(DType::kInt4));
}

}  // namespace
}  // namespace reverb
