// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Picks items in proportion to priority ^ exponent.
//
// A priority of 0 has weight 0, even for the exponent 0; such an item is only
// picked, uniformly, while all weights are 0. A positive priority whose weight
// underflows has the smallest positive weight there is.
//
// Threads: thread-compatible.
// Source: Schaul et al. 2015, "Prioritized Experience Replay".

#ifndef REVERB_CC_SELECTORS_PRIORITIZED_H_
#define REVERB_CC_SELECTORS_PRIORITIZED_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/selectors/selector.h"
#include "reverb/cc/selectors/slot_set.h"
#include "reverb/cc/selectors/sum_tree.h"
#include "reverb/cc/support/rng.h"

namespace reverb {

class PrioritizedSelector final : public Selector {
 public:
  // Requires a finite exponent.
  explicit PrioritizedSelector(const SelectorOptions& options)
      : options_(options),
        rng_(options.seed.has_value() ? Rng(*options.seed)
                                      : Rng::FromEntropy()) {}

  // InvalidArgument if `priority` is NaN, negative or infinite, or if its
  // weight isn't finite.
  static absl::Status CheckPriority(const SelectorOptions& options,
                                    double priority);

  absl::Status CanHold(absl::Span<const double> priorities) const override;
  void Insert(Slot slot, double priority) override;
  void Update(Slot slot, double priority) override;
  void Delete(Slot slot) override;
  Draw Sample() override;
  void SampleBatch(absl::Span<Draw> draws) override;
  size_t size() const override { return slots_.size(); }
  void Clear() override;
  const SelectorOptions& options() const override { return options_; }

 private:
  Draw DrawUniformly();
  double Weight(double priority) const;

  const SelectorOptions options_;
  Rng rng_;
  SumTree weights_;  // by slot
  SlotSet slots_;
  // The last weight computed: powers are slow, and an insert asks `CanHold`
  // first. 0 to any power has the weight 0.
  mutable double last_priority_ = 0;
  mutable double last_weight_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_SELECTORS_PRIORITIZED_H_
