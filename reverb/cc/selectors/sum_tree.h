// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Draws one of n weighted indices in O(log n).
//
// A flat 16-ary tree of sums. A change sums every node on its path anew from
// the node's children, so rounding errors never build up.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_SELECTORS_SUM_TREE_H_
#define REVERB_CC_SELECTORS_SUM_TREE_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"

namespace reverb {

class SumTree {
 public:
  // The weight of `index`, 0 if it was never set.
  double Get(size_t index) const {
    return index < levels_[0].size() ? levels_[0][index] : 0;
  }
  // Requires weight >= 0, and all weights together to be finite.
  void Set(size_t index, double weight);
  double total() const { return total_; }
  void Clear();

  // An index of positive weight, chosen so that for `fraction` uniform in
  // [0, 1) each comes up in proportion to its weight. Requires total() > 0.
  size_t Find(double fraction) const;
  // The same for each of `fractions`: descends with several at a time so that
  // their cache misses overlap.
  void FindBatch(absl::Span<const double> fractions,
                 absl::Span<size_t> indices) const;

 private:
  static constexpr size_t kFanout = 16;

  // Moves from a node to that one of its children, the first of which is
  // `children`, where `rest` falls, and makes `rest` relative to it.
  static size_t Step(const double* children, double& rest);
  static double SumOf(const double* children);
  void Grow(size_t index);

  // levels_[0] are the weights; levels_[k + 1][i] is the sum of the 16 entries
  // of levels_[k] from 16 * i on. Sizes are multiples of 16; the last level has
  // exactly 16 entries, whose sum is the total.
  std::vector<std::vector<double>> levels_ = {std::vector<double>(kFanout)};
  double total_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_SELECTORS_SUM_TREE_H_
