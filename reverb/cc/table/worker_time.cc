// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/worker_time.h"

#include <algorithm>

namespace reverb {

void WorkerTime::AddIdle(SteadyDuration duration, Totals& totals) const {
  duration = std::max(duration, SteadyDuration::zero());
  if (insert_blocked_) totals.waiting_for_sampling += duration;
  if (sample_blocked_) totals.waiting_for_inserts += duration;
  if (!insert_blocked_ && !sample_blocked_) totals.sleeping += duration;
}

void WorkerTime::BeginServing(SteadyTime now) {
  AddIdle(now - last_, totals_);
  last_ = now;
}

void WorkerTime::EndServing(SteadyTime now, int num_inserts, int num_samples,
                            bool insert_blocked, bool sample_blocked) {
  const SteadyDuration duration = std::max(now - last_, SteadyDuration::zero());
  // One pair of clock readings for the whole hold: an insert and a sample cost
  // about the same.
  const int num_operations = num_inserts + num_samples;
  if (num_operations > 0) {
    const SteadyDuration sampling = duration * num_samples / num_operations;
    totals_.sampling += sampling;
    totals_.inserting += duration - sampling;
  } else {
    AddIdle(duration, totals_);
  }
  last_ = now;
  insert_blocked_ = insert_blocked;
  sample_blocked_ = sample_blocked;
}

WorkerTime::Totals WorkerTime::TotalsAt(SteadyTime now) const {
  Totals totals = totals_;
  AddIdle(now - last_, totals);
  return totals;
}

}  // namespace reverb
