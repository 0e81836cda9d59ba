// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/step_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/client/cells.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/wire/data_messages.h"
#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int32_t> ValuesOf(const std::vector<CellRef>& cells) {
  const auto tensor = StackCells(cells);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return Values<int32_t>(*tensor);
}

absl::Status Give(StepHistory& history, const std::vector<int>& columns,
                  const std::vector<int32_t>& values, bool partial = false) {
  std::vector<Column> cells;
  for (const int32_t value : values) cells.push_back(Ints({value}));
  std::vector<TensorView> views;
  for (const Column& cell : cells) views.push_back(cell.view());
  const absl::Status status = history.Check(columns, views);
  if (status.ok()) history.Append(columns, views, partial);
  return status;
}

StepHistory& WithColumns(StepHistory& history, int count, int64_t keep,
                         std::optional<int64_t> chunk_length = std::nullopt) {
  for (int i = 0; i < count; ++i) {
    history.AddColumn(
        {.num_keep_alive_refs = keep, .max_chunk_length = chunk_length}, keep);
  }
  return history;
}

TEST(StepHistory, RetainsTheNewestSteps) {
  StepHistory history;
  WithColumns(history, 1, 3);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Give(history, {0}, {i}).ok());
  EXPECT_EQ(history.view(0).length, 5);
  EXPECT_EQ(history.view(0).retained, 3);
  EXPECT_EQ(history.episode_steps(), 5);
  EXPECT_THAT(ValuesOf(history.Range(0, 2, 3, 1)), ElementsAre(2, 3, 4));
  EXPECT_THAT(ValuesOf(history.Range(0, 4, 2, -2)), ElementsAre(4, 2));
  EXPECT_FALSE(history.At(0, 1));
  EXPECT_FALSE(history.At(0, 5));
}

TEST(StepHistory, ColumnsThatComeLaterHaveNoEarlierValues) {
  StepHistory history;
  WithColumns(history, 1, 10);
  ASSERT_TRUE(Give(history, {0}, {1}).ok());
  WithColumns(history, 1, 10);
  ASSERT_TRUE(Give(history, {1}, {2}).ok());
  EXPECT_EQ(history.view(1).length, 2);
  EXPECT_FALSE(history.At(1, 0));
  EXPECT_FALSE(history.At(0, 1));
  EXPECT_THAT(ValuesOf({history.At(0, 0), history.At(1, 1)}),
              ElementsAre(1, 2));
}

TEST(StepHistory, AStepIsOpenUntilItsLastPart) {
  StepHistory history;
  WithColumns(history, 2, 10);
  ASSERT_TRUE(Give(history, {0}, {1}, true).ok());
  EXPECT_TRUE(history.step_is_open());
  EXPECT_EQ(history.episode_steps(), 0);
  EXPECT_TRUE(history.HasValueInOpenStep(0));
  EXPECT_FALSE(history.HasValueInOpenStep(1));
  const absl::Status twice = Give(history, {1, 0}, {2, 3});
  EXPECT_EQ(twice.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(twice.message()), HasSubstr("column 0"));
  EXPECT_FALSE(history.HasValueInOpenStep(1));
  ASSERT_TRUE(Give(history, {1}, {2}).ok());
  EXPECT_FALSE(history.step_is_open());
  EXPECT_EQ(history.episode_steps(), 1);
  EXPECT_EQ(history.view(0).length, 1);
}

TEST(StepHistory, AnotherDtypeOrShapeIsRefused) {
  StepHistory history;
  WithColumns(history, 1, 10);
  ASSERT_TRUE(Give(history, {0}, {1}).ok());
  const Column wide = Ints({1, 2});
  const std::vector<TensorView> cells = {wide.view()};
  const std::vector<int> columns = {0};
  const absl::Status status = history.Check(columns, cells);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetErrorInfo(status)->column, "0");
  // So is one that no history has yet, if it is no tensor at all.
  const std::vector<int> unknown = {7};
  EXPECT_TRUE(history.Check(unknown, cells).ok());
  const std::vector<TensorView> none = {TensorView()};
  EXPECT_FALSE(history.Check(unknown, none).ok());
}

TEST(StepHistory, EndOfAnEpisode) {
  StepHistory history;
  WithColumns(history, 1, 4, 4);
  ASSERT_TRUE(Give(history, {0}, {1}, true).ok());
  const CellRef kept = history.At(0, 0);
  EXPECT_FALSE(kept.block->closed());
  history.EndEpisode(false);
  EXPECT_TRUE(kept.block->closed());
  EXPECT_FALSE(history.step_is_open());
  EXPECT_EQ(history.episode_steps(), 0);
  EXPECT_EQ(history.view(0).length, 1);
  EXPECT_FALSE(kept.expired());
  ASSERT_TRUE(Give(history, {0}, {2}).ok());
  EXPECT_THAT(ValuesOf(history.Range(0, 0, 2, 1)), ElementsAre(1, 2));
  history.EndEpisode(true);
  EXPECT_EQ(history.view(0).length, 0);
  EXPECT_TRUE(kept.expired());
}

TEST(StepHistory, EpisodesHaveChunksOfTheirOwn) {
  StepHistory history;
  WithColumns(history, 1, 4, 4);
  ASSERT_TRUE(Give(history, {0}, {1}).ok());
  history.EndEpisode(false);
  ASSERT_TRUE(Give(history, {0}, {2}).ok());
  const Ref<const Chunk> first = history.At(0, 0).block->ToChunk();
  const Ref<const Chunk> second = history.At(0, 1).block->ToChunk();
  EXPECT_NE(first->range().episode_id, second->range().episode_id);
  EXPECT_EQ(second->range().start, 0);
}

TEST(StepHistory, ExpiredChunksAreReportedOnce) {
  StepHistory history;
  WithColumns(history, 1, 2, 1);
  ASSERT_TRUE(Give(history, {0}, {0}).ok());
  const Ref<const Chunk> made = history.At(0, 0).block->ToChunk();
  ASSERT_TRUE(Give(history, {0}, {1}).ok());
  EXPECT_THAT(history.TakeExpiredChunks(), IsEmpty());
  ASSERT_TRUE(Give(history, {0}, {2}).ok());
  EXPECT_THAT(history.TakeExpiredChunks(), ElementsAre(made->key()));
  // Of cells that no item needed there is no chunk.
  ASSERT_TRUE(Give(history, {0}, {3}).ok());
  EXPECT_THAT(history.TakeExpiredChunks(), IsEmpty());
}

TEST(StepHistory, ConfigureNeedsAnEndedChunk) {
  StepHistory history;
  WithColumns(history, 1, 4, 3);
  ASSERT_TRUE(Give(history, {0}, {0}).ok());
  EXPECT_EQ(history.CheckConfigure(0).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Give(history, {0}, {1}).ok());
  ASSERT_TRUE(Give(history, {0}, {2}).ok());
  const std::vector<CellRef> cells = history.Range(0, 0, 3, 1);
  ASSERT_TRUE(history.CheckConfigure(0).ok());
  history.Configure(0, {.num_keep_alive_refs = 1}, 4);
  EXPECT_TRUE(cells[1].expired());
  EXPECT_FALSE(cells[2].expired());
}

TEST(Cells, ABlockEndsByCountOrByBytes) {
  StepHistory history;
  WithColumns(history, 1, 100, 100);
  const std::vector<int32_t> big(200'000);  // 800 kB
  for (int i = 0; i < 3; ++i) {
    const Column cell = Ints(big);
    const std::vector<TensorView> views = {cell.view()};
    const std::vector<int> columns = {0};
    history.Append(columns, views, false);
  }
  const std::vector<CellRef> cells = history.Range(0, 0, 3, 1);
  EXPECT_EQ(cells[0].block.get(), cells[1].block.get());
  EXPECT_NE(cells[1].block.get(), cells[2].block.get());
}

TEST(Cells, RunsEndWhereNeighboursDo) {
  StepHistory history;
  WithColumns(history, 1, 10, 3);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Give(history, {0}, {i}).ok());
  const auto runs = [&](const std::vector<int64_t>& positions) {
    std::vector<CellRef> cells;
    for (const int64_t position : positions) {
      cells.push_back(history.At(0, position));
    }
    std::vector<std::vector<int32_t>> result;
    for (const CellRun& run : ToRuns(cells)) {
      result.push_back({run.offset, run.length});
    }
    EXPECT_THAT(ValuesOf(cells), testing::SizeIs(positions.size()));
    return result;
  };
  using Run = std::vector<int32_t>;
  EXPECT_THAT(runs({0, 1, 2, 3, 4}), ElementsAre(Run{0, 3}, Run{0, 2}));
  EXPECT_THAT(runs({0, 2}), ElementsAre(Run{0, 1}, Run{2, 1}));
  EXPECT_THAT(runs({2, 1}), ElementsAre(Run{2, 1}, Run{1, 1}));
  EXPECT_THAT(runs({1, 1}), ElementsAre(Run{1, 1}, Run{1, 1}));
}

TEST(Cells, ReadTheSameBeforeAndAfterEncoding) {
  StepHistory history;
  WithColumns(history, 1, 10, 4);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(Give(history, {0}, {i}).ok());
  const std::vector<CellRef> cells = history.Range(0, 7, 4, -2);
  EXPECT_THAT(ValuesOf(cells), ElementsAre(7, 5, 3, 1));
  cells[0].block->ToChunk();
  EXPECT_THAT(ValuesOf(cells), ElementsAre(7, 5, 3, 1));
  const Ref<const Chunk> chunk = cells[3].block->ToChunk();
  EXPECT_EQ(cells[3].block->ToChunk().get(), chunk.get());
  EXPECT_THAT(ValuesOf(cells), ElementsAre(7, 5, 3, 1));
}

TEST(Cells, BytesAreChargedOnce) {
  StepHistory history;
  WithColumns(history, 1, 10, 4);
  ASSERT_TRUE(Give(history, {0}, {1}).ok());
  CellBlock& block = *history.At(0, 0).block;
  EXPECT_EQ(block.TakeUncharged(), sizeof(int32_t));
  EXPECT_EQ(block.TakeUncharged(), 0U);
  ASSERT_TRUE(Give(history, {0}, {2}).ok());
  EXPECT_EQ(block.TakeUncharged(), sizeof(int32_t));
}

}  // namespace
}  // namespace reverb
