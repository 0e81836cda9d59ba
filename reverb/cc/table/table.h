// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Items with a sampler, a remover and a rate limiter: one replay buffer.
//
// No thread of its own. Whoever changes the state serves, on its own thread,
// the inserts and samples that have become able to go: one insert if the
// limiter allows, then the sample at the head while the limiter allows, until
// nothing moves (order of spec/api.md 8.1). A lock hold does at most
// `kMaxOpsPerHold` operations; results are reported, and what has died is
// freed, after unlocking. What is left after a few holds goes to the executor.
//
// Inserts of one table happen in the order of their arrival, and so do
// samples. Reports may overtake each other: two threads that serve the table
// may be in calls of one sink at once, and a sink may still be told of what was
// done before its requests were withdrawn.
//
// Threads: thread-safe. Sinks are called without the lock, on any thread.

#ifndef REVERB_CC_TABLE_TABLE_H_
#define REVERB_CC_TABLE_TABLE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/data/item.h"
#include "reverb/cc/selectors/selector.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/executor.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/table/contents.h"
#include "reverb/cc/table/rate_limiter.h"
#include "reverb/cc/table/requests.h"
#include "reverb/cc/table/table_options.h"
#include "reverb/cc/table/turn.h"
#include "reverb/cc/table/waiters.h"
#include "reverb/cc/table/worker_time.h"

namespace reverb {

class Table : public std::enable_shared_from_this<Table> {
 public:
  using Options = TableOptions;

  // A consistent picture of the table.
  struct Info {
    std::string name;
    SelectorOptions sampler;
    SelectorOptions remover;
    int64_t max_size = 0;
    int32_t max_times_sampled = 0;
    RateLimiter::Options rate_limiter;
    RateLimiter::Counters counters;
    std::string signature;
    int64_t current_size = 0;
    int64_t num_episodes = 0;
    int64_t num_deleted_episodes = 0;
    int64_t num_unique_samples = 0;
    int64_t waiting_inserts = 0;  // items; why, is for the limiter to say
    int64_t waiting_samples = 0;  // requests
    // Cumulative milliseconds (design.md section 3, "worker time").
    int64_t sampling_ms = 0;
    int64_t inserting_ms = 0;
    int64_t sleeping_ms = 0;
    int64_t waiting_for_sampling_ms = 0;
    int64_t waiting_for_inserts_ms = 0;
  };

  // InvalidArgument that names the offending value.
  static absl::StatusOr<std::shared_ptr<Table>> Create(
      Options options, Executor& executor = Executor::Default(),
      const Clock& clock = Clock::Real());
  ~Table();

  const std::string& name() const { return options_.name; }
  const Options& options() const { return options_; }

  // Whether the selectors could hold an item of this priority, whatever the
  // items there are; for the edge, which checks messages before queueing.
  absl::Status CheckPriority(double priority) const;

  // Queues the inserts, in order, and serves what can go. The results come to
  // `sink`, each key once, maybe before the call returns. Those that have not
  // begun at `deadline` are withdrawn; `try_once` withdraws what can't go at
  // once.
  void Insert(std::vector<InsertRequest> requests,
              std::shared_ptr<InsertSink> sink,
              SteadyTime deadline = kNoDeadline, bool try_once = false);
  // Withdraws the waiting inserts of `sink`, which hears nothing of them;
  // their keys.
  std::vector<ItemKey> WithdrawInserts(const InsertSink* sink);
  // Whether so many inserts wait that streams should stop reading
  // (spec/api.md 8.9).
  bool InsertQueueIsFull() const;

  // Queues a sample request and serves what can go. The ticket withdraws it.
  uint64_t RequestSamples(const SampleRequest& request,
                          std::shared_ptr<SampleSink> sink);
  // True if it was still waiting: its sink will hear nothing, and what it had
  // already been granted is lost. False: it was or is being answered.
  bool WithdrawSamples(uint64_t ticket);

  // Deletes first, then updates; unknown keys are ignored. Checked whole
  // before anything changes: InvalidArgument if a selector can't hold one of
  // the priorities.
  absl::Status Mutate(absl::Span<const PriorityUpdate> updates,
                      absl::Span<const ItemKey> deletes);
  // Removes all items and zeroes the counters. Waiting requests stay.
  absl::Status Reset();
  // Ends all waiting requests, and every later one, with Cancelled. For good.
  void Close();

  // The limiter's predicates; n >= 1 else InvalidArgument.
  absl::StatusOr<bool> CanSample(int64_t n) const;
  absl::StatusOr<bool> CanInsert(int64_t n) const;

  Info GetInfo() const;
  int64_t size() const;
  // As 0.14 prints a table: "Table(sampler=..., ...)".
  // `signature` is the table's, for people.
  std::string ToString(absl::string_view signature = "") const;

 private:
  static constexpr int kMaxOpsPerHold = 64;
  static constexpr SteadyDuration kMaxHold = std::chrono::microseconds(100);
  // Holds that a caller does before it leaves the rest to the executor.
  static constexpr int kMaxHolds = 4;

  Table(Options options, Executor& executor, const Clock& clock);

  // Serves what can go, up to the limits of one hold, and ends what mustn't
  // wait. Every change of the state is followed by it in the same hold: so,
  // when a hold ends with `more` unset, all who wait are blocked by the
  // limiter, and when it is set, whoever holds the turn serves on.
  void ServeLocked(Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Does what `turn` says, and what can still go, on this thread or later.
  // Without the lock.
  void Finish(Turn turn) ABSL_LOCKS_EXCLUDED(mu_);

  // The parts of ServeLocked. Inserts the first waiting item.
  void InsertOneLocked(Turn& turn, int64_t wall_nanos)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Samples for the first request, at most `count` times; how often it did.
  // True if there's no reason to try again for that request.
  bool SampleForFirstLocked(Turn& turn, int count, int& num_samples)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the requests whose deadline has passed.
  void ExpireLocked(Turn& turn, SteadyTime now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // With the limiter refusing samples: answers the first request if it has
  // some, ends those that try once, notes that the others had to wait.
  void SettleSamplesLocked(Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Asks for a timer if an earlier one than there is, is needed.
  void PlanTimerLocked(Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void SetTimer(SteadyTime when);
  void OnTimer(SteadyTime when) ABSL_LOCKS_EXCLUDED(mu_);
  // Leaves the serving to the executor.
  void PostServing() ABSL_LOCKS_EXCLUDED(mu_);

  absl::Status ClosedError() const;

  const Options options_;
  Executor& executor_;
  const Clock& clock_;

  mutable Mutex mu_;
  // Set once, by Create. Refers to options_.
  std::unique_ptr<TableContents> contents_ ABSL_GUARDED_BY(mu_);
  InsertQueue inserts_ ABSL_GUARDED_BY(mu_);
  SampleQueue samples_ ABSL_GUARDED_BY(mu_);
  uint64_t next_ticket_ ABSL_GUARDED_BY(mu_) = 1;
  // Requests of lower tickets have had to wait.
  uint64_t rate_limited_below_ ABSL_GUARDED_BY(mu_) = 0;
  // Where a hold that reached its limits was in the alternation of 8.1.
  bool sampling_next_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool serving_posted_ ABSL_GUARDED_BY(mu_) = false;
  // No waiter has an earlier deadline; may be earlier than any has.
  SteadyTime earliest_deadline_ ABSL_GUARDED_BY(mu_) = kNoDeadline;
  // The earliest timer that is set.
  SteadyTime timer_ ABSL_GUARDED_BY(mu_) = kNoDeadline;
  WorkerTime worker_time_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_TABLE_H_
