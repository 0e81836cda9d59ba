// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The rules of all selectors, by lists and linear searches.

#ifndef TESTS_CC_TESTING_NAIVE_SELECTOR_H_
#define TESTS_CC_TESTING_NAIVE_SELECTOR_H_

#include <cmath>
#include <cstdint>
#include <map>

#include "reverb/cc/selectors/selector.h"

namespace reverb {

class NaiveSelector {
 public:
  explicit NaiveSelector(const SelectorOptions& options) : options_(options) {}

  void Insert(uint64_t name, double priority) {
    entries_[name] = {priority, next_++, next_++};
  }
  void Update(uint64_t name, double priority) {
    entries_[name].priority = priority;
    entries_[name].set = next_++;
  }
  void Delete(uint64_t name) { entries_.erase(name); }
  void Clear() { entries_.clear(); }

  // With which the rules choose it; 0 for an absent one.
  double ProbabilityOf(uint64_t name) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return 0;
    const Entry& chosen = found->second;
    double total = 0;
    bool first = true;
    for (const auto& [other, entry] : entries_) {
      total += Weight(entry.priority);
      if (other == name) continue;
      switch (options_.kind) {
        case SelectorOptions::Kind::kFifo:
          first = first && chosen.inserted < entry.inserted;
          break;
        case SelectorOptions::Kind::kLifo:
          first = first && chosen.inserted > entry.inserted;
          break;
        case SelectorOptions::Kind::kMinHeap:
          first = first && (chosen.priority != entry.priority
                                ? chosen.priority < entry.priority
                                : chosen.set < entry.set);
          break;
        case SelectorOptions::Kind::kMaxHeap:
          first = first && (chosen.priority != entry.priority
                                ? chosen.priority > entry.priority
                                : chosen.set < entry.set);
          break;
        default:
          break;
      }
    }
    const double uniform = 1.0 / static_cast<double>(entries_.size());
    switch (options_.kind) {
      case SelectorOptions::Kind::kUniform:
        return uniform;
      case SelectorOptions::Kind::kPrioritized:
        return total > 0 ? Weight(chosen.priority) / total : uniform;
      default:
        return first ? 1 : 0;
    }
  }

 private:
  struct Entry {
    double priority;
    uint64_t inserted;
    uint64_t set;
  };

  double Weight(double priority) const {
    return priority == 0 ? 0 : std::pow(priority, options_.priority_exponent);
  }

  const SelectorOptions options_;
  std::map<uint64_t, Entry> entries_;
  uint64_t next_ = 0;
};

}  // namespace reverb

#endif  // TESTS_CC_TESTING_NAIVE_SELECTOR_H_
