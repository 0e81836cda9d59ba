// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "reverb/cc/support/error_info.h"
#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int32_t> ToInts(const TensorView& cell) {
  std::vector<int32_t> values(cell.data.size() / sizeof(int32_t));
  if (!values.empty()) {
    std::memcpy(values.data(), cell.data.data(), cell.data.size());
  }
  return values;
}

TEST(Rows, AreViewsOfTheirBatch) {
  const Column numbers(DType::kInt32, {3, 2},
                       std::vector<int32_t>{1, 2, 3, 4, 5, 6});
  const Column texts = Column::Strings({3}, {"a", "b", "c"});
  const Column nothing(DType::kFloat32, {3, 0}, std::vector<float>{});
  const std::vector<TensorView> batch = {numbers.view(), texts.view(),
                                         nothing.view()};
  ASSERT_TRUE(CheckBatch({0, 1, 2}, batch, 3).ok());

  std::vector<TensorView> cells(7);
  RowOf(batch, 1, cells);
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].dtype, DType::kInt32);
  EXPECT_THAT(cells[0].dims, ElementsAre(2));
  EXPECT_THAT(ToInts(cells[0]), ElementsAre(3, 4));
  EXPECT_EQ(cells[0].data.data(), batch[0].data.data() + 8);
  EXPECT_TRUE(cells[1].dims.empty());
  EXPECT_THAT(cells[1].strings, ElementsAre("b"));
  EXPECT_THAT(cells[2].dims, ElementsAre(0));
  EXPECT_TRUE(cells[2].data.empty());

  RowOf(batch, 2, cells);
  EXPECT_THAT(ToInts(cells[0]), ElementsAre(5, 6));
  EXPECT_THAT(cells[1].strings, ElementsAre("c"));
}

TEST(Rows, OtherFirstDimensionsAreRefusedByNumber) {
  const Column three = Ints({1, 2, 3});
  const Column scalar = Float(1);
  const absl::Status wrong =
      CheckBatch({4, 7}, {three.view(), three.view()}, 2);
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(wrong.message(), HasSubstr("column 4"));
  EXPECT_THAT(wrong.message(), HasSubstr("(3,)"));
  EXPECT_EQ(GetErrorInfo(wrong)->limit, "2");

  const absl::Status no_rows =
      CheckBatch({4, 7}, {three.view(), scalar.view()}, 3);
  EXPECT_EQ(no_rows.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorInfo(no_rows)->column, "7");
}

}  // namespace
}  // namespace reverb
