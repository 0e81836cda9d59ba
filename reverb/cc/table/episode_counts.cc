// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/episode_counts.h"

namespace reverb {
namespace {

// Calls `fn(episode)` once per run of slices of one episode. An episode may
// come up more than once, but as often when it is removed as when added.
template <typename Fn>
void ForEachEpisodeRun(const Trajectory& trajectory, Fn&& fn) {
  const Chunk* chunk = nullptr;
  for (const ChunkSlice& slice : trajectory.slices()) {
    const Chunk* const previous = chunk;
    chunk = slice.chunk.get();
    if (previous == chunk) continue;
    const uint64_t episode = chunk->range().episode_id;
    if (previous != nullptr && previous->range().episode_id == episode) {
      continue;
    }
    fn(episode);
  }
}

}  // namespace

void EpisodeCounts::Add(const Trajectory& trajectory) {
  ForEachEpisodeRun(trajectory,
                    [this](uint64_t episode) { ++references_[episode]; });
}

void EpisodeCounts::Remove(const Trajectory& trajectory) {
  ForEachEpisodeRun(trajectory, [this](uint64_t episode) {
    const auto it = references_.find(episode);
    if (it == references_.end() || --it->second > 0) return;
    references_.erase(it);
    ++num_deleted_;
  });
}

}  // namespace reverb
