// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/selectors/heap.h"

#include <cmath>

#include "absl/status/status.h"

#include "reverb/cc/support/status_macros.h"

namespace reverb {

absl::Status HeapSelector::CheckPriority(double priority) {
  if (std::isnan(priority)) {
    return absl::InvalidArgumentError(
        "a heap can't order an item of priority NaN");
  }
  return absl::OkStatus();
}

absl::Status HeapSelector::CanHold(absl::Span<const double> priorities) const {
  for (const double priority : priorities) {
    REVERB_RETURN_IF_ERROR(CheckPriority(priority));
  }
  return absl::OkStatus();
}

void HeapSelector::Insert(Slot slot, double priority) {
  if (slot >= places_.size()) places_.resize(size_t{slot} + 1);
  heap_.emplace_back();
  Settle(
      heap_.size() - 1,
      {.rank = sign_ * priority, .sequence = next_sequence_++, .slot = slot});
}

void HeapSelector::Update(Slot slot, double priority) {
  Settle(
      places_[slot],
      {.rank = sign_ * priority, .sequence = next_sequence_++, .slot = slot});
}

void HeapSelector::Delete(Slot slot) {
  const size_t place = places_[slot];
  const Node last = heap_.back();
  heap_.pop_back();
  if (place < heap_.size()) Settle(place, last);
}

void HeapSelector::Settle(size_t place, const Node& node) {
  while (place > 0) {
    const size_t parent = (place - 1) / 2;
    if (!Before(node, heap_[parent])) break;
    Put(place, heap_[parent]);
    place = parent;
  }
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) {
      ++child;
    }
    if (!Before(heap_[child], node)) break;
    Put(place, heap_[child]);
    place = child;
  }
  Put(place, node);
}

void HeapSelector::Clear() {
  heap_.clear();
  places_.clear();
  next_sequence_ = 0;
}

}  // namespace reverb
