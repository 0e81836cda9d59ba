// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The client's parts that need no server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/client/channel.h"
#include "reverb/cc/client/chunk_ledger.h"
#include "reverb/cc/client/chunker.h"
#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/support/error_info.h"
#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Ref<const Chunk> SealOne(int32_t value) {
  Chunker chunker({});
  EXPECT_TRUE(chunker.Append({Ints({value}).view()}, 1, 0).ok());
  return chunker.Seal();
}

Ref<Item> ItemOf(const std::vector<Ref<const Chunk>>& chunks) {
  Trajectory trajectory;
  for (const auto& chunk : chunks) {
    ChunkSlice slice;
    slice.chunk = chunk;
    slice.length = 1;
    trajectory.Add(std::move(slice));
  }
  return MakeRef<Item>(ItemKey{1}, std::move(trajectory));
}

TEST(Chunker, SealsByRowsAndByBytes) {
  Chunker by_rows({.max_rows = 2});
  ASSERT_TRUE(by_rows.Append({Ints({1}).view()}, 7, 0).ok());
  EXPECT_FALSE(by_rows.full());
  ASSERT_TRUE(by_rows.Append({Ints({2}).view()}, 7, 1).ok());
  EXPECT_TRUE(by_rows.full());
  const ChunkKey key = by_rows.key();
  const Ref<const Chunk> chunk = by_rows.Seal();
  EXPECT_EQ(chunk->key(), key);
  EXPECT_EQ(chunk->range(),
            (SequenceRange{.episode_id = 7, .start = 0, .end = 1}));
  EXPECT_NE(by_rows.key(), key);

  Chunker by_bytes({.max_rows = 100, .max_raw_bytes = 8});
  ASSERT_TRUE(by_bytes.Append({Ints({1}).view()}, 7, 0).ok());
  EXPECT_FALSE(by_bytes.full());
  ASSERT_TRUE(by_bytes.Append({Ints({1}).view()}, 7, 2).ok());
  EXPECT_TRUE(by_bytes.full());
  EXPECT_TRUE(by_bytes.Seal()->range().sparse);
}

TEST(ChunkLedger, KeepsWhatUnsentAndLaterItemsNeed) {
  const auto a = SealOne(1), b = SealOne(2), c = SealOne(3);
  ChunkLedger ledger;
  ledger.AddUses(*ItemOf({a, b}));
  ledger.AddUses(*ItemOf({b}));
  ledger.Keep(c->key());
  for (const auto& chunk : {a, b}) {
    ledger.MarkSent(chunk->key());
    ledger.DropUse(chunk->key());
  }
  // `c` is to be kept, but has not been sent.
  EXPECT_THAT(ledger.KeepList(), UnorderedElementsAre(b->key()));
  EXPECT_FALSE(ledger.IsSent(a->key()));
  ledger.MarkSent(c->key());
  ledger.DropUse(b->key());
  EXPECT_THAT(ledger.KeepList(), UnorderedElementsAre(c->key()));
  ledger.Release(c->key());
  EXPECT_THAT(ledger.KeepList(), IsEmpty());
}

TEST(ChunkLedger, ForgetsReleasedChunksThatNothingUses) {
  const auto a = SealOne(1), b = SealOne(2);
  ChunkLedger ledger;
  ledger.Keep(a->key());
  ledger.Release(a->key());
  ledger.Release(b->key());  // never kept
  ledger.AddUses(*ItemOf({b}));
  ledger.Keep(b->key());
  ledger.Release(b->key());
  ledger.MarkSent(b->key());
  // An item that was queued before still needs it.
  EXPECT_THAT(ledger.KeepList(), UnorderedElementsAre(b->key()));
  ledger.DropUse(b->key());
  EXPECT_THAT(ledger.KeepList(), IsEmpty());
}

TEST(ClassifyTarget, KnowsWhatNamesOneAddress) {
  for (const char* one : {"localhost:1", "127.0.0.1:1", "[::1]:1",
                          "dns:///localhost:1", "ipv4:1.2.3.4:5", "unix:/a"}) {
    EXPECT_FALSE(ClassifyTarget(one).several) << one;
    EXPECT_THAT(ClassifyTarget(one).host_to_look_up, IsEmpty()) << one;
  }
  EXPECT_TRUE(ClassifyTarget("ipv4:1.2.3.4:5,6.7.8.9:5").several);
  EXPECT_TRUE(ClassifyTarget("xds:///service").several);
  EXPECT_EQ(ClassifyTarget("dns:///replay:80").host_to_look_up, "replay");
  EXPECT_EQ(ClassifyTarget("replay:80").host_to_look_up, "replay");
}

Signature TwoColumns() {
  Signature signature(2);
  signature[0].name = "obs/camera";
  signature[0].dtype = DType::kUint8;
  signature[0].dims = {-1, 3};
  signature[1].name = "reward";
  signature[1].dtype = DType::kFloat32;
  return signature;
}

TEST(CheckStep, FitsPerStepOrForTheWholeItem) {
  const std::vector<CellSpec> step = {{DType::kUint8, {4, 3}},
                                      {DType::kFloat32, {}}};
  EXPECT_TRUE(CheckStep("t", TwoColumns(), step, 5).ok());
  Signature whole = TwoColumns();
  whole[1].dims = {5};
  EXPECT_TRUE(CheckStep("t", whole, step, 5).ok());
  EXPECT_FALSE(CheckStep("t", whole, step, 4).ok());
}

TEST(CheckStep, NamesTableAndColumn) {
  const std::vector<CellSpec> wrong = {{DType::kUint8, {4, 2}},
                                       {DType::kFloat32, {}}};
  const absl::Status status = CheckStep("t", TwoColumns(), wrong, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'obs/camera'"));
  EXPECT_EQ(GetErrorInfo(status)->column, "obs/camera");
  EXPECT_EQ(GetErrorInfo(status)->table, "t");

  const std::vector<CellSpec> few = {{DType::kUint8, {4, 3}}};
  EXPECT_THAT(std::string(CheckStep("t", TwoColumns(), few, 1).message()),
              HasSubstr("reward"));
  const std::vector<CellSpec> many = {
      {DType::kUint8, {4, 3}}, {DType::kFloat32, {}}, {DType::kInt8, {9}}};
  EXPECT_THAT(std::string(CheckStep("t", TwoColumns(), many, 1).message()),
              HasSubstr("column 2 (int8 (9,))"));
}

}  // namespace
}  // namespace reverb
