// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A set of slots in no particular order, of which the n-th can be had.
//
// A dense array with removal by swapping, and each slot's place in it:
// everything is O(1).
//
// Threads: thread-compatible.

#ifndef REVERB_CC_SELECTORS_SLOT_SET_H_
#define REVERB_CC_SELECTORS_SLOT_SET_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reverb/cc/selectors/selector.h"

namespace reverb {

class SlotSet {
 public:
  // Requires that `slot` is absent.
  void Insert(Slot slot) {
    if (slot >= places_.size()) places_.resize(size_t{slot} + 1);
    places_[slot] = static_cast<uint32_t>(slots_.size());
    slots_.push_back(slot);
  }
  // Requires that `slot` is present.
  void Delete(Slot slot) {
    const Slot last = slots_.back();
    slots_[places_[slot]] = last;
    places_[last] = places_[slot];
    slots_.pop_back();
  }
  void Clear() {
    slots_.clear();
    places_.clear();
  }

  Slot operator[](size_t n) const { return slots_[n]; }
  size_t size() const { return slots_.size(); }

 private:
  std::vector<Slot> slots_;
  std::vector<uint32_t> places_;  // by slot
};

}  // namespace reverb

#endif  // REVERB_CC_SELECTORS_SLOT_SET_H_
