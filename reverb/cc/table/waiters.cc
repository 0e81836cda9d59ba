// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/waiters.h"

#include <algorithm>
#include <iterator>

namespace reverb {

void InsertQueue::Push(std::list<InsertWaiter>& waiter) {
  num_items_ += static_cast<int64_t>(waiter.front().items.size());
  num_try_once_ += waiter.front().try_once;
  waiters_.splice(waiters_.end(), waiter);
}

SteadyTime InsertQueue::EarliestDeadline() const {
  SteadyTime earliest = kNoDeadline;
  for (const InsertWaiter& waiter : waiters_) {
    earliest = std::min(earliest, waiter.deadline);
  }
  return earliest;
}

void InsertQueue::Advance(std::list<InsertWaiter>& finished) {
  InsertWaiter& first = waiters_.front();
  ++first.next;
  --num_items_;
  if (first.next == first.items.size()) Extract(waiters_.begin(), finished);
}

void InsertQueue::Extract(std::list<InsertWaiter>::iterator waiter,
                          std::list<InsertWaiter>& out) {
  num_items_ -= static_cast<int64_t>(waiter->items.size() - waiter->next);
  num_try_once_ -= waiter->try_once;
  out.splice(out.end(), waiters_, waiter);
}

void SampleQueue::Push(uint64_t ticket, SampleWaiter waiter) {
  num_try_once_ += waiter.request.try_once;
  waiters_.emplace_hint(waiters_.end(), ticket, std::move(waiter));
}

SteadyTime SampleQueue::EarliestDeadline() const {
  SteadyTime earliest = kNoDeadline;
  for (const auto& [ticket, waiter] : waiters_) {
    earliest = std::min(earliest, waiter.request.deadline);
  }
  return earliest;
}

SampleQueue::Map::node_type SampleQueue::Remove(uint64_t ticket) {
  const auto it = waiters_.find(ticket);
  if (it == waiters_.end()) return {};
  return Extract(it);
}

SampleQueue::Map::node_type SampleQueue::Extract(Map::iterator waiter) {
  num_try_once_ -= waiter->second.request.try_once;
  return waiters_.extract(waiter);
}

}  // namespace reverb
