// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/batch_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/support/error_info.h"

namespace reverb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Gives what it is told to.
class ListSampler final : public Sampler {
 public:
  std::deque<absl::StatusOr<SampleData>> list;
  bool closed = false;

  absl::StatusOr<SampleData> Next(const WaitOptions& /*wait*/) override {
    if (list.empty()) return absl::OutOfRangeError("end");
    absl::StatusOr<SampleData> next = std::move(list.front());
    list.pop_front();
    return next;
  }
  void Close() override { closed = true; }
};

Tensor Ints(const std::vector<int32_t>& values) {
  Tensor tensor{.dtype = DType::kInt32,
                .dims = {static_cast<int64_t>(values.size())},
                .data = {},
                .strings = {}};
  tensor.data = *Buffer::Allocate(values.size() * sizeof(int32_t));
  if (!values.empty()) {
    std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  }
  return tensor;
}

Tensor Text(std::string text) {
  return {.dtype = DType::kString,
          .dims = {},
          .data = {},
          .strings = {std::move(text)}};
}

SampleData Item(uint64_t key, const std::vector<int32_t>& values,
                std::string text = "t", std::string structure = "s") {
  SampleData sample{.key = key,
                    .probability = 0.5,
                    .table_size = 7,
                    .priority = static_cast<double>(key),
                    .times_sampled = 3};
  sample.columns.push_back(Ints(values));
  sample.columns.push_back(Text(std::move(text)));
  sample.structure = std::move(structure);
  return sample;
}

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  }
  return values;
}

class BatchBuilderTest : public testing::Test {
 protected:
  void Make(int64_t batch_size, bool drop_remainder = false) {
    auto sampler = std::make_unique<ListSampler>();
    sampler_ = sampler.get();
    batches_ = *BatchBuilder::Create(std::move(sampler),
                                     {.table = "dist",
                                      .batch_size = batch_size,
                                      .drop_remainder = drop_remainder});
  }
  template <typename... Args>
  void Give(Args&&... args) {
    sampler_->list.push_back(Item(std::forward<Args>(args)...));
  }
  absl::StatusOr<BatchData> Next() { return batches_->Next({}); }

  ListSampler* sampler_ = nullptr;
  std::unique_ptr<BatchBuilder> batches_;
};

TEST_F(BatchBuilderTest, StacksItems) {
  Make(2);
  Give(11, std::vector<int32_t>{1, 2}, "a");
  Give(12, std::vector<int32_t>{3, 4}, "b");
  const auto batch = Next();
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_THAT(Values<uint64_t>(batch->keys), ElementsAre(11, 12));
  EXPECT_THAT(Values<double>(batch->probabilities), ElementsAre(0.5, 0.5));
  EXPECT_THAT(Values<int64_t>(batch->table_sizes), ElementsAre(7, 7));
  EXPECT_THAT(Values<double>(batch->priorities), ElementsAre(11, 12));
  EXPECT_THAT(Values<int32_t>(batch->times_sampled), ElementsAre(3, 3));
  ASSERT_EQ(batch->columns.size(), 2);
  EXPECT_THAT(batch->columns[0].dims, ElementsAre(2, 2));
  EXPECT_THAT(Values<int32_t>(batch->columns[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(batch->columns[1].dims, ElementsAre(2));
  EXPECT_THAT(batch->columns[1].strings, ElementsAre("a", "b"));
  EXPECT_EQ(batch->structure, "s");
  EXPECT_TRUE(absl::IsOutOfRange(Next().status()));
}

TEST_F(BatchBuilderTest, TheLastBatchIsShort) {
  Make(3);
  for (int i = 0; i < 4; ++i) Give(i, std::vector<int32_t>{i});
  ASSERT_TRUE(Next().ok());
  const auto last = Next();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_THAT(last->keys.dims, ElementsAre(1));
  EXPECT_THAT(Values<uint64_t>(last->keys), ElementsAre(3));
  EXPECT_THAT(last->columns[0].dims, ElementsAre(1, 1));
  EXPECT_THAT(Values<int32_t>(last->columns[0]), ElementsAre(3));
  EXPECT_TRUE(absl::IsOutOfRange(Next().status()));
}

TEST_F(BatchBuilderTest, TheRemainderCanBeDropped) {
  Make(3, /*drop_remainder=*/true);
  for (int i = 0; i < 4; ++i) Give(i, std::vector<int32_t>{i});
  EXPECT_TRUE(Next().ok());
  EXPECT_TRUE(absl::IsOutOfRange(Next().status()));
}

TEST_F(BatchBuilderTest, ATimeoutGivesWhatThereIs) {
  Make(3);
  Give(1, std::vector<int32_t>{1});
  sampler_->list.emplace_back(absl::DeadlineExceededError("late"));
  Give(2, std::vector<int32_t>{2});
  const auto batch = Next();
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_THAT(Values<uint64_t>(batch->keys), ElementsAre(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Next().status()));
}

TEST_F(BatchBuilderTest, GoesOnAfterAnErrorOfOneItem) {
  Make(2);
  Give(1, std::vector<int32_t>{1});
  sampler_->list.emplace_back(absl::DataLossError("damaged"));
  Give(2, std::vector<int32_t>{2});
  EXPECT_TRUE(absl::IsDataLoss(Next().status()));
  const auto batch = Next();
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_THAT(Values<uint64_t>(batch->keys), ElementsAre(1, 2));
}

TEST_F(BatchBuilderTest, RefusesItemsOfAnotherShape) {
  Make(2);
  Give(1, std::vector<int32_t>{1});
  Give(2, std::vector<int32_t>{2, 3});
  Give(3, std::vector<int32_t>{4});
  const absl::Status status = Next().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(status.message(),
              HasSubstr("column 0 of item 2 of table 'dist' is int32 (2,)"));
  EXPECT_EQ(GetErrorInfo(status)->column, "0");
  EXPECT_TRUE(sampler_->closed);
  EXPECT_EQ(Next().status(), status);
}

TEST_F(BatchBuilderTest, RefusesAnotherNumberOfColumns) {
  Make(2);
  Give(1, std::vector<int32_t>{1});
  SampleData one = Item(2, {1});
  one.columns.pop_back();
  sampler_->list.emplace_back(std::move(one));
  EXPECT_THAT(Next().status().message(), HasSubstr("1 columns"));
}

TEST_F(BatchBuilderTest, EmptyRowsAreRows) {
  Make(2);
  Give(1, std::vector<int32_t>{});
  Give(2, std::vector<int32_t>{});
  Give(3, std::vector<int32_t>{});
  ASSERT_TRUE(Next().ok());
  const auto last = Next();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_THAT(last->columns[0].dims, ElementsAre(1, 0));
  EXPECT_THAT(Values<int32_t>(last->columns[0]), IsEmpty());
}

TEST_F(BatchBuilderTest, DifferentStructuresAreNone) {
  Make(2);
  Give(1, std::vector<int32_t>{1}, "t", "a");
  Give(2, std::vector<int32_t>{1}, "t", "b");
  EXPECT_EQ(Next()->structure, "");
}

TEST_F(BatchBuilderTest, ABatchTooLargeIsAnError) {
  Make(int64_t{1} << 60);
  Give(1, std::vector<int32_t>{1, 2, 3, 4});
  EXPECT_TRUE(absl::IsResourceExhausted(Next().status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      BatchBuilder::Create(nullptr, {.table = "t", .batch_size = 0}).status()));
}

}  // namespace
}  // namespace reverb
