// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What one hold of a table's lock leaves to be done after unlocking: results
// to report and memory to free.
//
// Threads: one thread.

#ifndef REVERB_CC_TABLE_TURN_H_
#define REVERB_CC_TABLE_TURN_H_

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/support/clock.h"
#include "reverb/cc/table/contents.h"
#include "reverb/cc/table/requests.h"
#include "reverb/cc/table/waiters.h"

namespace reverb {

class Turn {
 public:
  // One item of `waiter` is done.
  void AddResult(const InsertWaiter& waiter, InsertResult result);
  // What is left of these ends so.
  void EndInserts(std::list<InsertWaiter> waiters, absl::Status status);
  // Answers with the samples it has; with `status` if it has none.
  void EndSample(SampleQueue::Map::node_type waiter, absl::Status status);

  // Calls the sinks, each insert sink once. Without the lock.
  void Report();

  std::list<InsertWaiter> finished;  // all reported by AddResult
  Discarded discarded;

  // More can be done at once, by another hold.
  bool more = false;
  // A timer is to be set for this time.
  SteadyTime timer = kNoDeadline;

 private:
  struct Group {
    std::shared_ptr<InsertSink> sink;
    std::vector<InsertResult> results;
  };
  Group& GroupOf(const InsertWaiter& waiter);

  std::vector<Group> groups_;
  std::vector<std::pair<std::list<InsertWaiter>, absl::Status>> ended_inserts_;
  std::vector<std::pair<SampleQueue::Map::node_type, absl::Status>>
      ended_samples_;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_TURN_H_
