// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Chooses one of a table's items: the next to sample, or the next to remove.
//
// Items are named by slots, small dense numbers that the table hands out and
// reuses, so that every selector is a few flat arrays without hashing.
// Insert, update, delete and sample are O(log n) or better, memory is
// proportional to the highest slot in use.
//
// A seeded selector makes exactly one draw of its generator per sample, so
// that batching never changes what is drawn.
//
// Threads: thread-compatible; holds no lock. `Table` guards its instances.

#ifndef REVERB_CC_SELECTORS_SELECTOR_H_
#define REVERB_CC_SELECTORS_SELECTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace reverb {

using Slot = uint32_t;

struct SelectorOptions {
  enum class Kind { kFifo, kLifo, kUniform, kPrioritized, kMinHeap, kMaxHeap };

  Kind kind = Kind::kUniform;
  double priority_exponent = 0;  // kPrioritized
  std::optional<uint64_t> seed;  // kUniform, kPrioritized; none: from the OS

  // Whether two selectors with the same history choose the same items.
  bool IsDeterministic() const;
  // As 0.14 prints it: "FifoSelector", "PrioritizedSelector(
  // priority_exponent=0.8)", "HeapSelector(sign=1)".
  std::string ToString() const;
};

class Selector {
 public:
  struct Draw {
    Slot slot = 0;
    double probability = 1;
  };

  virtual ~Selector() = default;

  // InvalidArgument that names the value if adding items of these priorities,
  // all of them, would leave a weight, or the total, that isn't finite, or if
  // the selector can't order one of them (NaN; negative where it is a weight).
  // For updates the check is the same: what is replaced still counts.
  virtual absl::Status CanHold(absl::Span<const double> priorities) const = 0;

  // Each requires CanHold to be OK for `priority`, and `slot` to be absent
  // (Insert) or present (Update, Delete).
  virtual void Insert(Slot slot, double priority) = 0;
  virtual void Update(Slot slot, double priority) = 0;
  virtual void Delete(Slot slot) = 0;

  // Requires size() > 0. Removes nothing.
  virtual Draw Sample() = 0;
  // Fills `draws` with independent draws, as that many calls of `Sample`
  // would, but cheaper.
  virtual void SampleBatch(absl::Span<Draw> draws) {
    for (Draw& draw : draws) draw = Sample();
  }

  virtual size_t size() const = 0;
  // Frees nothing and continues the sequence of random draws.
  virtual void Clear() = 0;
  virtual const SelectorOptions& options() const = 0;
};

// InvalidArgument if an option has no meaning (an exponent that isn't finite).
absl::StatusOr<std::unique_ptr<Selector>> CreateSelector(
    const SelectorOptions& options);

// As `Selector::CanHold` of a selector that is empty, without having one.
// Threads: thread-safe.
absl::Status CheckPriority(const SelectorOptions& options, double priority);

}  // namespace reverb

#endif  // REVERB_CC_SELECTORS_SELECTOR_H_
