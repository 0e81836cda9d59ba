// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Picks the item of the smallest (MinHeap) or largest (MaxHeap) priority; of
// equal ones that whose priority was set least recently, by insert or update.
//
// An index heap: O(log n) changes, O(1) samples. Infinite priorities are fine.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_SELECTORS_HEAP_H_
#define REVERB_CC_SELECTORS_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/selectors/selector.h"

namespace reverb {

class HeapSelector final : public Selector {
 public:
  // Of kind kMinHeap or kMaxHeap.
  explicit HeapSelector(const SelectorOptions& options)
      : options_(options),
        sign_(options.kind == SelectorOptions::Kind::kMinHeap ? 1 : -1) {}

  // InvalidArgument if `priority` is NaN.
  static absl::Status CheckPriority(double priority);

  absl::Status CanHold(absl::Span<const double> priorities) const override;
  void Insert(Slot slot, double priority) override;
  void Update(Slot slot, double priority) override;
  void Delete(Slot slot) override;
  Draw Sample() override { return {.slot = heap_[0].slot, .probability = 1}; }
  size_t size() const override { return heap_.size(); }
  void Clear() override;
  const SelectorOptions& options() const override { return options_; }

 private:
  struct Node {
    double rank;        // sign * priority; the smallest wins
    uint64_t sequence;  // when it was set
    Slot slot;
  };
  static bool Before(const Node& a, const Node& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.sequence < b.sequence;
  }

  // Writes `node` to `place`, or where it belongs above or below it.
  void Settle(size_t place, const Node& node);
  void Put(size_t place, const Node& node) {
    heap_[place] = node;
    places_[node.slot] = static_cast<uint32_t>(place);
  }

  const SelectorOptions options_;
  const double sign_;
  std::vector<Node> heap_;
  std::vector<uint32_t> places_;  // by slot
  uint64_t next_sequence_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_SELECTORS_HEAP_H_
