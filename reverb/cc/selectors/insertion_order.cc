// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/selectors/insertion_order.h"

namespace reverb {

void InsertionOrderSelector::Insert(Slot slot, double /*priority*/) {
  if (slot >= links_.size()) links_.resize(size_t{slot} + 1);
  links_[slot] = {.older = newest_, .newer = kNone};
  (newest_ == kNone ? oldest_ : links_[newest_].newer) = slot;
  newest_ = slot;
  ++size_;
}

void InsertionOrderSelector::Delete(Slot slot) {
  const Link link = links_[slot];
  (link.older == kNone ? oldest_ : links_[link.older].newer) = link.newer;
  (link.newer == kNone ? newest_ : links_[link.newer].older) = link.older;
  --size_;
}

Selector::Draw InsertionOrderSelector::Sample() {
  return {
      .slot = options_.kind == SelectorOptions::Kind::kFifo ? oldest_ : newest_,
      .probability = 1};
}

void InsertionOrderSelector::Clear() {
  links_.clear();
  oldest_ = newest_ = kNone;
  size_ = 0;
}

}  // namespace reverb
