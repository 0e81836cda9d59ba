// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Counts the distinct episodes that a table's items come from, and those that
// have left it.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_TABLE_EPISODE_COUNTS_H_
#define REVERB_CC_TABLE_EPISODE_COUNTS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"

#include "reverb/cc/data/item.h"

namespace reverb {

class EpisodeCounts {
 public:
  // O(slices of the trajectory).
  void Add(const Trajectory& trajectory);
  // Requires that it was added.
  void Remove(const Trajectory& trajectory);

  int64_t num_episodes() const {
    return static_cast<int64_t>(references_.size());
  }
  // Episodes whose last reference went away.
  int64_t num_deleted() const { return num_deleted_; }

 private:
  // Episode -> how often the trajectories refer to it.
  absl::flat_hash_map<uint64_t, int64_t> references_;
  int64_t num_deleted_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_EPISODE_COUNTS_H_
