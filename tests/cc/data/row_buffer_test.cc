// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/row_buffer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/codec/snappy_block.h"
#include "reverb/cc/support/error_info.h"

namespace reverb {
namespace {

using ::testing::HasSubstr;

TensorView Numeric(DType dtype, Dims dims, absl::string_view data) {
  TensorView view;
  view.dtype = dtype;
  view.dims = dims;
  view.data = data;
  return view;
}

TensorView Strings(Dims dims, absl::Span<const absl::string_view> strings) {
  TensorView view;
  view.dtype = DType::kString;
  view.dims = dims;
  view.strings = strings;
  return view;
}

void AppendChecked(RowBuffer& buffer, const TensorView& cell) {
  const absl::Status status = buffer.Check(cell);
  ASSERT_TRUE(status.ok()) << status;
  buffer.Append(cell);
}

absl::string_view DataOf(const Tensor& tensor) {
  return {tensor.data.data(), tensor.data.size()};
}

TEST(RowBuffer, TheFirstCellFixesDtypeAndShapeForGood) {
  RowBuffer buffer;
  AppendChecked(buffer, Numeric(DType::kUint8, {3}, "abc"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(buffer.Check(Numeric(DType::kUint8, {3}, "xyz")).ok());
    const absl::Status shape = buffer.Check(Numeric(DType::kUint8, {2}, "ab"));
    EXPECT_EQ(shape.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(shape.message(), HasSubstr("expected uint8 (3,)"));
    EXPECT_THAT(shape.message(), HasSubstr("got uint8 (2,)"));
    EXPECT_FALSE(buffer.Check(Numeric(DType::kInt8, {3}, "abc")).ok());
    EXPECT_FALSE(buffer.Check(Strings({}, {})).ok());
    buffer.Clear();
  }
}

TEST(RowBuffer, CellsThatContradictThemselvesAreRefused) {
  RowBuffer buffer;
  const auto refused = [&](const TensorView& cell) {
    return buffer.Check(cell).code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(Numeric(DType::kUint8, {3}, "ab")));
  EXPECT_TRUE(refused(Numeric(DType::kInt32, {1}, "abcde")));
  EXPECT_TRUE(refused(Numeric(DType::kInvalid, {}, "")));
  EXPECT_TRUE(refused(Numeric(static_cast<DType>(20), {}, "")));
  EXPECT_TRUE(refused(Numeric(DType::kUint8, {-1}, "")));
  EXPECT_TRUE(refused(
      Numeric(DType::kUint8, {int64_t{1} << 40, int64_t{1} << 40}, "")));
  EXPECT_TRUE(refused(Strings({2}, {"one"})));
  AppendChecked(buffer, Numeric(DType::kUint8, {3}, "abc"));
  EXPECT_TRUE(refused(Numeric(DType::kUint8, {3}, "ab")));
}

TEST(RowBuffer, CellsOverTheLimitAreRefused) {
  // A view is enough: nothing reads the bytes before the sizes are checked.
  const char* const nothing = "";
  const size_t size = kMaxCellBytes + 1;
  RowBuffer buffer;
  const absl::Status status = buffer.Check(
      Numeric(DType::kUint8, {static_cast<int64_t>(size)}, {nothing, size}));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("2147418113 bytes"));
  EXPECT_THAT(status.message(), HasSubstr("2147418112 bytes"));
  const auto info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->limit, "2147418112");
  EXPECT_TRUE(buffer
                  .Check(Numeric(DType::kUint8, {int64_t{kMaxCellBytes}},
                                 {nothing, kMaxCellBytes}))
                  .ok());
  const absl::string_view large[] = {{nothing, kMaxCellBytes - 23}};
  EXPECT_EQ(buffer.Check(Strings({}, large)).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(RowBuffer, CellsComeBackAsTheyWere) {
  RowBuffer buffer;
  AppendChecked(buffer, Numeric(DType::kInt16, {1, 2}, "abcd"));
  AppendChecked(buffer, Numeric(DType::kInt16, {1, 2}, "efgh"));
  EXPECT_EQ(buffer.num_rows(), 2);
  EXPECT_EQ(buffer.raw_bytes(), 8u);
  const auto cell = buffer.Rows(1, 1);
  ASSERT_TRUE(cell.ok());
  EXPECT_EQ(cell->dtype, DType::kInt16);
  EXPECT_EQ(cell->dims, (Dims{1, 1, 2}));
  EXPECT_EQ(DataOf(*cell), "efgh");
}

TEST(RowBuffer, StringCellsComeBackAsTheyWere) {
  RowBuffer buffer;
  AppendChecked(buffer, Strings({2}, {"", "one"}));
  AppendChecked(buffer, Strings({2}, {"two", ""}));
  EXPECT_EQ(buffer.raw_bytes(), 4 * 24u + 6);
  EXPECT_EQ(buffer.Rows(0, 1)->strings, (std::vector<std::string>{"", "one"}));
  EXPECT_EQ(buffer.Rows(1, 1)->strings, (std::vector<std::string>{"two", ""}));
  const EncodedTensor tensor = buffer.Encode(true);
  EXPECT_EQ(tensor.dims, (Dims{2, 2}));
  EXPECT_EQ(tensor.raw_bytes, 102);
  EXPECT_EQ(tensor.content, std::string("\0\x03\x03\0onetwo", 10));
}

TEST(RowBuffer, EncodesRowsInFrontOfTheCell) {
  RowBuffer buffer;
  AppendChecked(buffer, Numeric(DType::kUint8, {3}, "abc"));
  AppendChecked(buffer, Numeric(DType::kUint8, {3}, "bcd"));
  const EncodedTensor plain = buffer.Encode(false);
  EXPECT_EQ(plain.dtype, DType::kUint8);
  EXPECT_EQ(plain.dims, (Dims{2, 3}));
  EXPECT_EQ(plain.raw_bytes, 6);
  EXPECT_EQ(SnappyLiteral(plain.content), "abcbcd");
  EXPECT_EQ(SnappyLiteral(buffer.Encode(true).content), "abc\x01\x01\x01");
  EXPECT_EQ(buffer.num_rows(), 2);
}

TEST(RowBuffer, ScalarsHaveNoDelta) {
  RowBuffer buffer;
  AppendChecked(buffer, Numeric(DType::kUint8, {}, "a"));
  AppendChecked(buffer, Numeric(DType::kUint8, {}, "b"));
  const EncodedTensor tensor = buffer.Encode(true);
  EXPECT_EQ(tensor.dims, Dims{2});
  EXPECT_EQ(SnappyLiteral(tensor.content), "ab");
}

TEST(RowBuffer, CellsOfSizeZeroCountAsRows) {
  RowBuffer buffer;
  AppendChecked(buffer, Numeric(DType::kFloat32, {0, 3}, ""));
  AppendChecked(buffer, Numeric(DType::kFloat32, {0, 3}, ""));
  const EncodedTensor tensor = buffer.Encode(false);
  EXPECT_EQ(tensor.dims, (Dims{2, 0, 3}));
  EXPECT_EQ(tensor.content, std::string(1, '\0'));
  EXPECT_TRUE(buffer.Rows(1, 1).ok());
}

TEST(RowBuffer, ClearForgetsTheRowsOnly) {
  RowBuffer buffer;
  AppendChecked(buffer, Strings({}, {"one"}));
  buffer.Clear();
  EXPECT_EQ(buffer.num_rows(), 0);
  EXPECT_EQ(buffer.raw_bytes(), 0u);
  EXPECT_EQ(buffer.dtype(), DType::kString);
  AppendChecked(buffer, Strings({}, {"two"}));
  EXPECT_EQ(buffer.Rows(0, 1)->strings[0], "two");
}

}  // namespace
}  // namespace reverb
