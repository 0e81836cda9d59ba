// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Picks any item with the same probability; priorities have no effect.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_SELECTORS_UNIFORM_H_
#define REVERB_CC_SELECTORS_UNIFORM_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/selectors/selector.h"
#include "reverb/cc/selectors/slot_set.h"
#include "reverb/cc/support/rng.h"

namespace reverb {

class UniformSelector final : public Selector {
 public:
  explicit UniformSelector(const SelectorOptions& options)
      : options_(options),
        rng_(options.seed.has_value() ? Rng(*options.seed)
                                      : Rng::FromEntropy()) {}

  absl::Status CanHold(absl::Span<const double>) const override {
    return absl::OkStatus();
  }
  void Insert(Slot slot, double) override { slots_.Insert(slot); }
  void Update(Slot, double) override {}
  void Delete(Slot slot) override { slots_.Delete(slot); }
  Draw Sample() override {
    return {.slot = slots_[rng_.NextBelow(slots_.size())],
            .probability = 1.0 / static_cast<double>(slots_.size())};
  }
  size_t size() const override { return slots_.size(); }
  void Clear() override { slots_.Clear(); }
  const SelectorOptions& options() const override { return options_; }

 private:
  const SelectorOptions options_;
  Rng rng_;
  SlotSet slots_;
};

}  // namespace reverb

#endif  // REVERB_CC_SELECTORS_UNIFORM_H_
