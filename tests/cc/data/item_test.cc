// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/item.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/support/ref.h"

namespace reverb {
namespace {

Ref<const Chunk> MakeChunk(ChunkKey key, const std::string& bytes) {
  Chunk::Header header;
  header.key = key;
  header.delta_encoded = true;
  header.tensor_rows = {3, 3};
  auto copy = std::make_unique<char[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return MakeRef<const Chunk>(std::move(header), std::move(copy), bytes.size());
}

ChunkSlice Slice(Ref<const Chunk> chunk, bool ends_column) {
  ChunkSlice slice;
  slice.chunk = std::move(chunk);
  slice.length = 1;
  slice.ends_column = ends_column;
  return slice;
}

TEST(Chunk, KeepsItsBytesAndHeader) {
  const Ref<const Chunk> chunk = MakeChunk(7, "bytes");
  EXPECT_EQ(chunk->key(), 7u);
  EXPECT_TRUE(chunk->delta_encoded());
  EXPECT_EQ(chunk->bytes(), "bytes");
  EXPECT_EQ(chunk->tensor_rows().size(), 2u);
}

TEST(Chunk, SerialsDifferWhereKeysDoNot) {
  EXPECT_NE(MakeChunk(7, "")->serial(), MakeChunk(7, "")->serial());
}

TEST(Trajectory, VisitsColumnsAndDistinctChunks) {
  const auto a = MakeChunk(1, ""), b = MakeChunk(2, "");
  Trajectory trajectory;
  EXPECT_EQ(trajectory.num_columns(), 0);
  trajectory.Add(Slice(a, false));
  trajectory.Add(Slice(b, true));
  trajectory.Add(Slice(a, true));
  EXPECT_EQ(trajectory.num_columns(), 2);
  std::vector<size_t> lengths;
  trajectory.ForEachColumn(
      [&](const auto& column) { lengths.push_back(column.size()); });
  EXPECT_EQ(lengths, (std::vector<size_t>{2, 1}));
  std::vector<ChunkKey> keys;
  trajectory.ForEachChunk(
      [&](const Ref<const Chunk>& chunk) { keys.push_back(chunk->key()); });
  EXPECT_EQ(keys, (std::vector<ChunkKey>{1, 2}));
}

TEST(Item, OwnsWhatItIsGiven) {
  Trajectory trajectory;
  trajectory.Add(Slice(MakeChunk(1, ""), true));
  const Item plain(3, trajectory);
  EXPECT_EQ(plain.key(), 3u);
  EXPECT_EQ(plain.extra(), "");
  const Item more(4, trajectory, std::make_shared<const std::string>("extra"));
  EXPECT_EQ(more.extra(), "extra");
  EXPECT_EQ(more.trajectory().slices().size(), 1u);
}

}  // namespace
}  // namespace reverb
