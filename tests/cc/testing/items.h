// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Chunks and items whose bytes mean nothing, for code that never decodes them.

#ifndef TESTS_CC_TESTING_ITEMS_H_
#define TESTS_CC_TESTING_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/data/item.h"
#include "reverb/cc/support/ref.h"

namespace reverb {

inline Ref<const Chunk> TestChunk(uint64_t episode, size_t bytes = 8) {
  Chunk::Header header;
  header.key = episode * 1000;
  header.range.episode_id = episode;
  header.tensor_rows.push_back(1);
  return MakeRef<Chunk>(std::move(header), std::make_unique<char[]>(bytes),
                        bytes);
}

// An item of one column made up of one row of each chunk.
inline Ref<Item> TestItem(ItemKey key,
                          const std::vector<Ref<const Chunk>>& chunks) {
  Trajectory trajectory;
  for (size_t i = 0; i < chunks.size(); ++i) {
    trajectory.Add({.chunk = chunks[i],
                    .offset = 0,
                    .length = 1,
                    .index = 0,
                    .ends_column = i + 1 == chunks.size(),
                    .squeeze = false});
  }
  return MakeRef<Item>(key, std::move(trajectory));
}

inline Ref<Item> TestItem(ItemKey key, uint64_t episode = 1, size_t bytes = 8) {
  return TestItem(key, {TestChunk(episode, bytes)});
}

}  // namespace reverb

#endif  // TESTS_CC_TESTING_ITEMS_H_
