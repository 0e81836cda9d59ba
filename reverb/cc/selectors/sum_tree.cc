// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/selectors/sum_tree.h"

#include <algorithm>
#include <array>
#include <utility>

namespace reverb {

double SumTree::SumOf(const double* children) {
  // Pairwise: eight, four, two sums side by side are independent additions.
  double sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = children[i] + children[i + 8];
  for (int i = 0; i < 4; ++i) sums[i] += sums[i + 4];
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

void SumTree::Grow(size_t index) {
  for (size_t level = 0;; ++level) {
    std::vector<double>& sums = levels_[level];
    if (index >= sums.size()) {
      sums.resize((index / kFanout + 1) * kFanout);
    }
    if (sums.size() == kFanout) return;
    index /= kFanout;
    if (level + 1 == levels_.size()) {
      // So far this was the last level: its 16 entries get a parent.
      std::vector<double> parents(kFanout);
      parents[0] = total_;
      levels_.push_back(std::move(parents));
    }
  }
}

void SumTree::Set(size_t index, double weight) {
  if (index >= levels_[0].size()) Grow(index);
  levels_[0][index] = weight;
  for (size_t level = 0;; ++level) {
    index /= kFanout;
    const double sum = SumOf(&levels_[level][index * kFanout]);
    if (level + 1 == levels_.size()) {
      total_ = sum;
      return;
    }
    levels_[level + 1][index] = sum;
  }
}

void SumTree::Clear() {
  levels_.resize(1);
  // Later growth fills with zeros and needs no allocation.
  levels_[0].clear();
  levels_[0].resize(kFanout);
  total_ = 0;
}

size_t SumTree::Step(const double* children, double& rest) {
  // `rest` is never negative, so no child without weight is entered here.
  for (size_t i = 0; i < kFanout; ++i) {
    if (rest < children[i]) return i;
    rest -= children[i];
  }
  // Rounding may leave it at or beyond the sum of all: then it belongs to the
  // end of the last child that has any weight.
  size_t last = kFanout - 1;
  while (last > 0 && !(children[last] > 0)) --last;
  rest = children[last];
  return last;
}

size_t SumTree::Find(double fraction) const {
  double rest = fraction * total_;
  size_t node = 0;
  for (size_t level = levels_.size(); level-- > 0;) {
    node = node * kFanout + Step(&levels_[level][node * kFanout], rest);
  }
  return node;
}

void SumTree::FindBatch(absl::Span<const double> fractions,
                        absl::Span<size_t> indices) const {
  constexpr size_t kGroup = 16;
  std::array<double, kGroup> rests;
  for (size_t begin = 0; begin < fractions.size(); begin += kGroup) {
    const size_t count = std::min(kGroup, fractions.size() - begin);
    size_t* const nodes = &indices[begin];
    for (size_t i = 0; i < count; ++i) {
      rests[i] = fractions[begin + i] * total_;
      nodes[i] = 0;
    }
    for (size_t level = levels_.size(); level-- > 0;) {
      for (size_t i = 0; i < count; ++i) {
        nodes[i] = nodes[i] * kFanout +
                   Step(&levels_[level][nodes[i] * kFanout], rests[i]);
        if (level > 0) {
          // The 16 children are two cache lines.
          const double* next = &levels_[level - 1][nodes[i] * kFanout];
          __builtin_prefetch(next);
          __builtin_prefetch(next + kFanout / 2);
        }
      }
    }
  }
}

}  // namespace reverb
