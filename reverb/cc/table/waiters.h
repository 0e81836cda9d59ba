// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Requests that wait in a table, in order of arrival.
//
// Threads: thread-compatible. `Table` guards its instances.

#ifndef REVERB_CC_TABLE_WAITERS_H_
#define REVERB_CC_TABLE_WAITERS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "reverb/cc/data/item.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/table/contents.h"
#include "reverb/cc/table/requests.h"

namespace reverb {

// One call of `Table::Insert`.
struct InsertWaiter {
  std::vector<NewItem> items;
  size_t next = 0;  // those before it are done
  std::shared_ptr<InsertSink> sink;
  SteadyTime deadline = kNoDeadline;
  bool try_once = false;
};

class InsertQueue {
 public:
  // Appends the one waiter in `waiter`; made outside so that nothing need be
  // allocated here.
  void Push(std::list<InsertWaiter>& waiter);

  bool empty() const { return waiters_.empty(); }
  int64_t num_items() const { return num_items_; }
  bool has_try_once() const { return num_try_once_ > 0; }
  SteadyTime EarliestDeadline() const;  // O(waiters)

  InsertWaiter& front() { return waiters_.front(); }
  // The first one's next item is done; when it was the last, the waiter moves
  // to `finished`.
  void Advance(std::list<InsertWaiter>& finished);

  // Moves those for which `pred(waiter)` to `out`.
  template <typename Pred>
  void ExtractIf(Pred&& pred, std::list<InsertWaiter>& out) {
    for (auto it = waiters_.begin(); it != waiters_.end();) {
      const auto here = it++;
      if (pred(std::as_const(*here))) Extract(here, out);
    }
  }

 private:
  void Extract(std::list<InsertWaiter>::iterator waiter,
               std::list<InsertWaiter>& out);

  std::list<InsertWaiter> waiters_;
  int64_t num_items_ = 0;
  int64_t num_try_once_ = 0;
};

// One call of `Table::RequestSamples`.
struct SampleWaiter {
  SampleRequest request;
  std::shared_ptr<SampleSink> sink;
  std::vector<Sample> samples;  // granted so far
  size_t bytes = 0;             // of their chunks
};

class SampleQueue {
 public:
  // Tickets grow, so that their order is that of arrival.
  using Map = std::map<uint64_t, SampleWaiter>;

  void Push(uint64_t ticket, SampleWaiter waiter);

  bool empty() const { return waiters_.empty(); }
  size_t size() const { return waiters_.size(); }
  bool has_try_once() const { return num_try_once_ > 0; }
  SteadyTime EarliestDeadline() const;  // O(waiters)

  uint64_t front_ticket() const { return waiters_.begin()->first; }
  SampleWaiter& front() { return waiters_.begin()->second; }

  Map::node_type PopFront() { return Extract(waiters_.begin()); }
  // Empty if there is none of that ticket.
  Map::node_type Remove(uint64_t ticket);
  // Moves those for which `pred(waiter)` to `out`.
  template <typename Pred>
  void ExtractIf(Pred&& pred, std::vector<Map::node_type>& out) {
    for (auto it = waiters_.begin(); it != waiters_.end();) {
      const auto here = it++;
      if (pred(std::as_const(here->second))) out.push_back(Extract(here));
    }
  }

 private:
  Map::node_type Extract(Map::iterator waiter);

  Map waiters_;
  int64_t num_try_once_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_WAITERS_H_
