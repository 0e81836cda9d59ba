// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/chunk_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace reverb {
namespace {

const char* ExtraOf(ChunkCache& cache, const std::string& extra) {
  ItemMessage message;
  message.extra = extra;
  const auto item = cache.Resolve(message);
  EXPECT_TRUE(item.ok()) << item.status();
  EXPECT_EQ((*item)->extra(), extra);
  return (*item)->extra().data();
}

TEST(ChunkCache, ItemsShareEqualExtras) {
  ChunkCache cache(1000);
  const std::string names[] = {std::string(40, 'a'), std::string(40, 'b'),
                               std::string(40, 'c'), std::string(40, 'd')};
  const char* kept[4];
  for (int i = 0; i < 4; ++i) kept[i] = ExtraOf(cache, names[i]);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ExtraOf(cache, names[i]), kept[i]);
  EXPECT_EQ(ExtraOf(cache, ""), nullptr);
  // A fifth takes the place of the oldest.
  const char* const fifth = ExtraOf(cache, std::string(40, 'e'));
  EXPECT_EQ(ExtraOf(cache, std::string(40, 'e')), fifth);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(ExtraOf(cache, names[i]), kept[i]);
}

TEST(ChunkCache, HoldsNoLargeExtraOfItsOwn) {
  ChunkCache cache(1000);
  const std::string large(100'000, 'x');
  ItemMessage message;
  message.extra = large;
  const auto first = cache.Resolve(message);
  ASSERT_TRUE(first.ok());
  EXPECT_NE(ExtraOf(cache, large), (*first)->extra().data());
}

}  // namespace
}  // namespace reverb
