// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/selectors/selector.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/selectors/heap.h"
#include "reverb/cc/selectors/insertion_order.h"
#include "reverb/cc/selectors/prioritized.h"
#include "reverb/cc/selectors/uniform.h"

namespace reverb {

bool SelectorOptions::IsDeterministic() const {
  return kind != Kind::kUniform && kind != Kind::kPrioritized;
}

std::string SelectorOptions::ToString() const {
  switch (kind) {
    case Kind::kFifo:
      return "FifoSelector";
    case Kind::kLifo:
      return "LifoSelector";
    case Kind::kUniform:
      return "UniformSelector";
    case Kind::kPrioritized:
      return absl::StrCat(
          "PrioritizedSelector(priority_exponent=", priority_exponent, ")");
    case Kind::kMinHeap:
      return "HeapSelector(sign=1)";
    case Kind::kMaxHeap:
      return "HeapSelector(sign=-1)";
  }
  return "";
}

absl::StatusOr<std::unique_ptr<Selector>> CreateSelector(
    const SelectorOptions& options) {
  switch (options.kind) {
    case SelectorOptions::Kind::kFifo:
    case SelectorOptions::Kind::kLifo:
      return std::make_unique<InsertionOrderSelector>(options);
    case SelectorOptions::Kind::kUniform:
      return std::make_unique<UniformSelector>(options);
    case SelectorOptions::Kind::kPrioritized:
      if (!std::isfinite(options.priority_exponent)) {
        return absl::InvalidArgumentError(
            absl::StrCat("priority_exponent must be a finite number, not ",
                         options.priority_exponent));
      }
      return std::make_unique<PrioritizedSelector>(options);
    case SelectorOptions::Kind::kMinHeap:
    case SelectorOptions::Kind::kMaxHeap:
      return std::make_unique<HeapSelector>(options);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown kind of selector: ", static_cast<int>(options.kind)));
}

absl::Status CheckPriority(const SelectorOptions& options, double priority) {
  switch (options.kind) {
    case SelectorOptions::Kind::kFifo:
    case SelectorOptions::Kind::kLifo:
    case SelectorOptions::Kind::kUniform:
      return absl::OkStatus();
    case SelectorOptions::Kind::kPrioritized:
      return PrioritizedSelector::CheckPriority(options, priority);
    case SelectorOptions::Kind::kMinHeap:
    case SelectorOptions::Kind::kMaxHeap:
      return HeapSelector::CheckPriority(priority);
  }
  return absl::OkStatus();
}

}  // namespace reverb
