// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/bulk_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/support/error_info.h"

namespace reverb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Takes what comes, and confirms it at once but for what it is told to refuse.
class RecordingStream final : public InsertStream {
 public:
  std::vector<OutgoingItem> items;
  absl::flat_hash_set<ChunkKey> kept;
  int64_t refuse_from = -1;
  bool closed = false;

  absl::Status Append(std::vector<OutgoingItem> more, SteadyTime /*limit*/,
                      bool /*try_once*/) override {
    for (const OutgoingItem& item : more) {
      if (refuse_from >= 0 &&
          static_cast<int64_t>(items.size()) >= refuse_from) {
        refused_.push_back(item.item->key());
      }
      item.item->trajectory().ForEachChunk([&](const Ref<const Chunk>& chunk) {
        EXPECT_TRUE(kept.contains(chunk->key()));
      });
      items.push_back(item);
    }
    return absl::OkStatus();
  }
  void UpdateKept(absl::Span<const Ref<const Chunk>> added,
                  absl::Span<const ChunkKey> removed) override {
    for (const ChunkKey key : removed) kept.erase(key);
    for (const Ref<const Chunk>& chunk : added) kept.insert(chunk->key());
  }
  absl::Status AwaitPending(int64_t, const WaitOptions&) override {
    return absl::OkStatus();
  }
  int64_t num_pending() const override { return 0; }
  int64_t pending_bytes() const override { return 0; }
  std::vector<ItemKey> TakeRefused() override {
    return std::exchange(refused_, {});
  }
  std::vector<Pending> PendingItems() const override { return {}; }
  absl::Status last_loss() const override { return absl::OkStatus(); }
  absl::Status status() const override { return absl::OkStatus(); }
  void Close() override { closed = true; }

 private:
  std::vector<ItemKey> refused_;
};

class BulkLoadTest : public testing::Test {
 protected:
  // One column of `rows` rows of `row_bytes` bytes.
  void Make(int64_t rows, int64_t row_bytes, BulkLoad::Options options = {},
            const std::vector<uint8_t>& ends = {},
            std::vector<double> priorities = {1}) {
    bytes_.assign(static_cast<size_t>(rows * row_bytes), 'x');
    columns_.resize(1);
    columns_[0].dtype = DType::kUint8;
    columns_[0].dims = {rows, row_bytes};
    columns_[0].data = bytes_;
    options.table = "t";
    made_ = BulkLoad::Create(std::move(options), columns_, ends,
                             std::move(priorities), nullptr, stream_);
  }
  void Run() {
    ASSERT_TRUE(made_.ok()) << made_.status();
    const auto done = (*made_)->Advance({});
    ASSERT_TRUE(done.ok()) << done.status();
    EXPECT_TRUE(*done);
    EXPECT_EQ((*made_)->CountInserted(), (*made_)->num_items());
    EXPECT_EQ(static_cast<int64_t>(stream_->items.size()),
              (*made_)->num_items());
  }
  // Rows of each distinct chunk, in order of their first use.
  std::vector<int> ChunkRows() const {
    std::vector<int> rows;
    absl::flat_hash_set<ChunkKey> seen;
    for (const OutgoingItem& item : stream_->items) {
      item.item->trajectory().ForEachChunk([&](const Ref<const Chunk>& chunk) {
        if (!seen.insert(chunk->key()).second) return;
        rows.push_back(chunk->range().end - chunk->range().start + 1);
      });
    }
    return rows;
  }
  size_t NumSlices(size_t item) const {
    return stream_->items[item].item->trajectory().slices().size();
  }

  std::string bytes_;
  std::vector<TensorView> columns_;
  const std::shared_ptr<RecordingStream> stream_ =
      std::make_shared<RecordingStream>();
  absl::StatusOr<std::unique_ptr<BulkLoad>> made_ =
      absl::UnknownError("not made");
};

TEST_F(BulkLoadTest, OverlappingWindowsShareChunks) {
  Make(40, 4096, {.length = 20});
  Run();
  EXPECT_EQ(stream_->items.size(), 21);
  EXPECT_THAT(ChunkRows(), ElementsAre(5, 5, 5, 5, 5, 5, 5, 5));
  EXPECT_EQ(NumSlices(0), 4);
  EXPECT_EQ(NumSlices(1), 5);
}

TEST_F(BulkLoadTest, WindowsApartHaveTheirOwnAndLeaveOutTheRest) {
  Make(20, 4096, {.length = 3, .stride = 8});
  Run();
  EXPECT_THAT(ChunkRows(), ElementsAre(3, 3, 3));
  EXPECT_EQ(stream_->items[1].item->trajectory().slices()[0].chunk->range(),
            (SequenceRange{.episode_id = stream_->items[1]
                                             .item->trajectory()
                                             .slices()[0]
                                             .chunk->range()
                                             .episode_id,
                           .start = 8,
                           .end = 10}));
}

TEST_F(BulkLoadTest, SmallRowsShareAChunk) {
  Make(100, 100);
  Run();
  EXPECT_EQ(ChunkRows().size(), 10);
  EXPECT_EQ(NumSlices(99), 1);
}

TEST_F(BulkLoadTest, LargeRowsHaveOneEach) {
  Make(3, 5000);
  Run();
  EXPECT_THAT(ChunkRows(), ElementsAre(1, 1, 1));
}

TEST_F(BulkLoadTest, ChunksEndAtAMebibyte) {
  Make(64, 100'000, {.length = 64});
  Run();
  for (const int rows : ChunkRows()) EXPECT_LE(rows * 100'000, 1 << 20);
  EXPECT_GE(NumSlices(0), 6);
}

TEST_F(BulkLoadTest, NoWindowAndNoChunkCrossesAnEpisode) {
  std::vector<uint8_t> ends(12, 0);
  ends[4] = ends[5] = 1;
  Make(12, 10, {.length = 2}, ends);
  Run();
  // Of 5 rows, 1 and 6.
  EXPECT_EQ(stream_->items.size(), 4 + 0 + 5);
  std::set<uint64_t> episodes;
  for (const OutgoingItem& item : stream_->items) {
    episodes.insert(
        item.item->trajectory().slices()[0].chunk->range().episode_id);
  }
  EXPECT_EQ(episodes.size(), 2);
}

TEST_F(BulkLoadTest, LetsGoOfChunksThatAreNotNeededAnyMore) {
  Make(20'000, 4096 / 16, {.length = 8});
  Run();
  EXPECT_LT(stream_->kept.size(), 10);
}

TEST_F(BulkLoadTest, PrioritiesAreThoseOfTheItems) {
  Make(3, 4, {}, {}, {1, 2, 3});
  Run();
  EXPECT_EQ(stream_->items[2].priority, 3);
  Make(3, 4, {}, {}, {1, 2});
  EXPECT_TRUE(absl::IsInvalidArgument(made_.status()));
  EXPECT_EQ(GetErrorInfo(made_.status())->actual, "2");
}

TEST_F(BulkLoadTest, StopsAtTheFirstRefusal) {
  stream_->refuse_from = 3;
  Make(5, 4);
  const absl::Status status = (*made_)->Advance({}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("'t' has taken 3 of 5"));
}

TEST_F(BulkLoadTest, ClosesItsStream) {
  Make(5, 4);
  made_->reset();
  EXPECT_TRUE(stream_->closed);
}

}  // namespace
}  // namespace reverb
