// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a table spends its time on, as if a worker thread did everything.
//
// Serving counts while the lock is held for it; between two holds it is
// waiting for what the blocked requests need, or sleeping without any.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_TABLE_WORKER_TIME_H_
#define REVERB_CC_TABLE_WORKER_TIME_H_

#include <cstdint>

#include "reverb/cc/support/clock.h"

namespace reverb {

class WorkerTime {
 public:
  struct Totals {
    SteadyDuration sampling{};
    SteadyDuration inserting{};
    SteadyDuration sleeping{};
    SteadyDuration waiting_for_sampling{};  // an insert was blocked
    SteadyDuration waiting_for_inserts{};   // a sample was blocked
  };

  explicit WorkerTime(SteadyTime now) : last_(now) {}

  // A hold begins: what passed since the last one was waiting or sleeping.
  void BeginServing(SteadyTime now);
  // It ends, having served so many operations, and leaves these blocked.
  void EndServing(SteadyTime now, int num_inserts, int num_samples,
                  bool insert_blocked, bool sample_blocked);

  // With the time since the last hold.
  Totals TotalsAt(SteadyTime now) const;

 private:
  void AddIdle(SteadyDuration duration, Totals& totals) const;

  Totals totals_;
  SteadyTime last_;  // up to when `totals_` accounts
  bool insert_blocked_ = false;
  bool sample_blocked_ = false;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_WORKER_TIME_H_
