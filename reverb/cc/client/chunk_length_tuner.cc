// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/chunk_length_tuner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace reverb {
namespace {

constexpr int64_t kItemsPerRound = 10;
constexpr int64_t kChunksPerRound = 5;
constexpr int64_t kGrowBy = 2;
constexpr int64_t kShrinkBy = 1;

}  // namespace

void ChunkLengthTuner::Mean::Add(int64_t num_cells, size_t num_bytes) {
  ++count;
  cells += static_cast<double>(num_cells);
  bytes += static_cast<double>(num_bytes);
}

void ChunkLengthTuner::OnChunk(int64_t num_cells, size_t bytes) {
  chunks_.Add(num_cells, bytes);
  MaybeMove();
}

void ChunkLengthTuner::OnItem(int64_t num_cells, size_t bytes) {
  items_.Add(num_cells, bytes);
  MaybeMove();
}

void ChunkLengthTuner::MaybeMove() {
  if (items_.count < kItemsPerRound || chunks_.count < kChunksPerRound) return;
  const double cost =
      items_.bytes / items_.cells + chunks_.bytes / chunks_.cells;
  if (last_cost_ && cost > *last_cost_) grows_ = !grows_;
  last_cost_ = cost;
  items_ = {};
  chunks_ = {};
  // At an end of its range the length can only turn back.
  if (length_ == 1) grows_ = true;
  if (length_ == max_length_) grows_ = false;
  length_ = std::clamp<int64_t>(length_ + (grows_ ? kGrowBy : -kShrinkBy), 1,
                                max_length_);
}

}  // namespace reverb
