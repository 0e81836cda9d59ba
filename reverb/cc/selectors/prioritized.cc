// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/selectors/prioritized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

double WeightOf(double priority, double exponent) {
  if (priority == 0) return 0;
  const double weight = exponent == 1 ? priority : std::pow(priority, exponent);
  return weight > 0 ? weight : std::numeric_limits<double>::denorm_min();
}

// Whether `priority`, of which `weight` is the weight, can be held at all.
absl::Status CheckWeight(double priority, double exponent, double weight) {
  if (!(priority >= 0 && std::isfinite(priority))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a prioritized selector needs priorities that are finite and not "
        "negative, not ",
        priority));
  }
  if (!std::isfinite(weight)) {
    return absl::InvalidArgumentError(
        absl::StrCat("priority ", priority, " to the power of ", exponent,
                     " is not a finite number"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PrioritizedSelector::CheckPriority(const SelectorOptions& options,
                                                double priority) {
  const double exponent = options.priority_exponent;
  return CheckWeight(priority, exponent, WeightOf(priority, exponent));
}

double PrioritizedSelector::Weight(double priority) const {
  if (priority != last_priority_) {
    last_priority_ = priority;
    last_weight_ = WeightOf(priority, options_.priority_exponent);
  }
  return last_weight_;
}

absl::Status PrioritizedSelector::CanHold(
    absl::Span<const double> priorities) const {
  // A little above what any order of summing can round up to.
  constexpr double kRounding = 1 + 0x1p-40;
  double total = weights_.total();
  for (const double priority : priorities) {
    const double weight = Weight(priority);
    REVERB_RETURN_IF_ERROR(
        CheckWeight(priority, options_.priority_exponent, weight));
    total += weight;
    if (!std::isfinite(total * kRounding)) {
      return absl::InvalidArgumentError(
          absl::StrCat("with priority ", priority,
                       " the sum of all weights is not a finite number"));
    }
  }
  return absl::OkStatus();
}

void PrioritizedSelector::Insert(Slot slot, double priority) {
  slots_.Insert(slot);
  weights_.Set(slot, Weight(priority));
}

void PrioritizedSelector::Update(Slot slot, double priority) {
  weights_.Set(slot, Weight(priority));
}

void PrioritizedSelector::Delete(Slot slot) {
  slots_.Delete(slot);
  weights_.Set(slot, 0);
}

Selector::Draw PrioritizedSelector::DrawUniformly() {
  return {.slot = slots_[rng_.NextBelow(slots_.size())],
          .probability = 1.0 / static_cast<double>(slots_.size())};
}

Selector::Draw PrioritizedSelector::Sample() {
  if (!(weights_.total() > 0)) return DrawUniformly();
  const size_t slot = weights_.Find(rng_.NextDouble());
  return {.slot = static_cast<Slot>(slot),
          .probability = weights_.Get(slot) / weights_.total()};
}

void PrioritizedSelector::SampleBatch(absl::Span<Draw> draws) {
  if (!(weights_.total() > 0)) {
    for (Draw& draw : draws) draw = DrawUniformly();
    return;
  }
  constexpr size_t kBatch = 64;
  std::array<double, kBatch> fractions;
  std::array<size_t, kBatch> slots;
  while (!draws.empty()) {
    const size_t count = std::min(kBatch, draws.size());
    for (size_t i = 0; i < count; ++i) fractions[i] = rng_.NextDouble();
    weights_.FindBatch(absl::MakeSpan(fractions).first(count),
                       absl::MakeSpan(slots).first(count));
    for (size_t i = 0; i < count; ++i) {
      draws[i] = {.slot = static_cast<Slot>(slots[i]),
                  .probability = weights_.Get(slots[i]) / weights_.total()};
    }
    draws.remove_prefix(count);
  }
}

void PrioritizedSelector::Clear() {
  weights_.Clear();
  slots_.Clear();
}

}  // namespace reverb
