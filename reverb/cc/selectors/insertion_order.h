// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Picks the oldest (Fifo) or the newest (Lifo) item by insertion; priorities
// have no effect.
//
// A doubly linked list in one flat array: everything is O(1).
//
// Threads: thread-compatible.

#ifndef REVERB_CC_SELECTORS_INSERTION_ORDER_H_
#define REVERB_CC_SELECTORS_INSERTION_ORDER_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/selectors/selector.h"

namespace reverb {

class InsertionOrderSelector final : public Selector {
 public:
  // Of kind kFifo or kLifo.
  explicit InsertionOrderSelector(const SelectorOptions& options)
      : options_(options) {}

  absl::Status CanHold(absl::Span<const double>) const override {
    return absl::OkStatus();
  }
  void Insert(Slot slot, double priority) override;
  void Update(Slot, double) override {}
  void Delete(Slot slot) override;
  Draw Sample() override;
  size_t size() const override { return size_; }
  void Clear() override;
  const SelectorOptions& options() const override { return options_; }

 private:
  static constexpr Slot kNone = ~Slot{0};
  struct Link {
    Slot older = kNone;
    Slot newer = kNone;
  };

  const SelectorOptions options_;
  std::vector<Link> links_;  // by slot; those of absent slots mean nothing
  Slot oldest_ = kNone;
  Slot newest_ = kNone;
  size_t size_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_SELECTORS_INSERTION_ORDER_H_
