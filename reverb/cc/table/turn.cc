// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/turn.h"

#include <algorithm>
#include <utility>

namespace reverb {

Turn::Group& Turn::GroupOf(const InsertWaiter& waiter) {
  // From the back: a run of results is mostly for one sink, and there are few
  // sinks. When very many end at once, finding each would be quadratic.
  constexpr size_t kMaxLooks = 64;
  for (size_t i = 0; i < std::min(kMaxLooks, groups_.size()); ++i) {
    Group& group = groups_[groups_.size() - 1 - i];
    if (group.sink == waiter.sink) return group;
  }
  Group& group = groups_.emplace_back();
  group.sink = waiter.sink;
  constexpr size_t kOneHold = 64;
  group.results.reserve(std::min(kOneHold, waiter.items.size() - waiter.next));
  return group;
}

void Turn::AddResult(const InsertWaiter& waiter, InsertResult result) {
  GroupOf(waiter).results.push_back(std::move(result));
}

void Turn::EndInserts(std::list<InsertWaiter> waiters, absl::Status status) {
  if (waiters.empty()) return;
  ended_inserts_.emplace_back(std::move(waiters), std::move(status));
}

void Turn::EndSample(SampleQueue::Map::node_type waiter, absl::Status status) {
  ended_samples_.emplace_back(std::move(waiter), std::move(status));
}

void Turn::Report() {
  for (const auto& [waiters, status] : ended_inserts_) {
    for (const InsertWaiter& waiter : waiters) {
      Group& group = GroupOf(waiter);
      for (size_t i = waiter.next; i < waiter.items.size(); ++i) {
        group.results.push_back({.key = waiter.items[i].item->key(),
                                 .tag = waiter.items[i].tag,
                                 .status = status});
      }
    }
  }
  for (const Group& group : groups_) {
    if (!group.results.empty()) group.sink->OnInserts(group.results);
  }
  for (auto& [node, status] : ended_samples_) {
    SampleWaiter& waiter = node.mapped();
    if (waiter.samples.empty()) {
      waiter.sink->OnSamples({}, std::move(status));
    } else {
      waiter.sink->OnSamples(std::move(waiter.samples), absl::OkStatus());
    }
  }
}

}  // namespace reverb
