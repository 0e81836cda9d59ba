// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The part of Table that serves waiting requests.

#include <algorithm>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/table/table.h"

namespace reverb {
namespace {

absl::Status TimeoutError() {
  return absl::DeadlineExceededError(kRateLimiterTimeoutText);
}

}  // namespace

void Table::ServeLocked(Turn& turn) {
  if (closed_) return;
  const SteadyTime begin = clock_.Now();
  worker_time_.BeginServing(begin);
  if (begin >= earliest_deadline_) ExpireLocked(turn, begin);

  // One insert, then the first sample request as far as it can go, and so on
  // until neither moves.
  constexpr int kClockEvery = 16;  // inserts; a reading costs as much as half
  int num_inserts = 0;
  int num_samples = 0;
  int64_t wall_nanos = 0;
  for (int idle = 0; idle < 2;) {
    const int left = kMaxOpsPerHold - num_inserts - num_samples;
    if (left == 0) break;
    if (sampling_next_) {
      const int before = num_samples;
      if (!SampleForFirstLocked(turn, left, num_samples)) break;
      sampling_next_ = false;
      idle = num_samples > before ? 0 : idle + 1;
    } else {
      sampling_next_ = true;
      if (inserts_.empty() || !contents_->limiter().CanInsert(1)) {
        ++idle;
        continue;
      }
      if (num_inserts == 0) wall_nanos = clock_.WallNanos();
      InsertOneLocked(turn, wall_nanos);
      ++num_inserts;
      idle = 0;
      if (num_inserts % kClockEvery == 0 && clock_.Now() - begin > kMaxHold) {
        break;
      }
    }
  }

  const bool sample_blocked = !samples_.empty() && !contents_->CanSample();
  if (sample_blocked) SettleSamplesLocked(turn);
  const bool insert_blocked =
      !inserts_.empty() && !contents_->limiter().CanInsert(1);
  if (insert_blocked && inserts_.has_try_once()) {
    std::list<InsertWaiter> ended;
    inserts_.ExtractIf(
        [](const InsertWaiter& waiter) { return waiter.try_once; }, ended);
    turn.EndInserts(std::move(ended), TimeoutError());
  }
  turn.more = (!samples_.empty() && !sample_blocked) ||
              (!inserts_.empty() && !insert_blocked);
  if (!turn.more) sampling_next_ = false;
  PlanTimerLocked(turn);
  worker_time_.EndServing(clock_.Now(), num_inserts, num_samples,
                          insert_blocked && !inserts_.empty(),
                          sample_blocked && !samples_.empty());
}

void Table::InsertOneLocked(Turn& turn, int64_t wall_nanos) {
  InsertWaiter& waiter = inserts_.front();
  NewItem& item = waiter.items[waiter.next];
  InsertResult result{.key = item.item->key(), .tag = item.tag};
  result.status =
      contents_->Insert(std::move(item), wall_nanos, turn.discarded);
  turn.AddResult(waiter, std::move(result));
  inserts_.Advance(turn.finished);
}

bool Table::SampleForFirstLocked(Turn& turn, int count, int& num_samples) {
  if (samples_.empty()) return true;
  SampleWaiter& waiter = samples_.front();
  const int64_t missing =
      waiter.request.num_samples - static_cast<int64_t>(waiter.samples.size());
  const int wanted = static_cast<int>(std::min<int64_t>(count, missing));
  const bool rate_limited = samples_.front_ticket() < rate_limited_below_;
  const int taken =
      contents_->Sample(wanted, waiter.request.max_bytes, rate_limited,
                        waiter.samples, waiter.bytes, turn.discarded);
  num_samples += taken;
  if (taken == missing ||
      (taken > 0 && waiter.bytes >= waiter.request.max_bytes)) {
    turn.EndSample(samples_.PopFront(), absl::OkStatus());
    return true;
  }
  // All that this hold had left was taken: there may be more to have.
  return taken < count;
}

void Table::SettleSamplesLocked(Turn& turn) {
  if (!samples_.front().samples.empty()) {
    turn.EndSample(samples_.PopFront(), absl::OkStatus());
  }
  if (samples_.has_try_once()) {
    std::vector<SampleQueue::Map::node_type> ended;
    samples_.ExtractIf(
        [](const SampleWaiter& waiter) { return waiter.request.try_once; },
        ended);
    for (auto& waiter : ended) {
      turn.EndSample(std::move(waiter), TimeoutError());
    }
  }
  rate_limited_below_ = next_ticket_;
}

void Table::ExpireLocked(Turn& turn, SteadyTime now) {
  std::list<InsertWaiter> inserts;
  inserts_.ExtractIf(
      [now](const InsertWaiter& waiter) { return waiter.deadline <= now; },
      inserts);
  turn.EndInserts(std::move(inserts), TimeoutError());
  std::vector<SampleQueue::Map::node_type> samples;
  samples_.ExtractIf(
      [now](const SampleWaiter& waiter) {
        return waiter.request.deadline <= now;
      },
      samples);
  for (auto& waiter : samples) {
    turn.EndSample(std::move(waiter), TimeoutError());
  }
  earliest_deadline_ =
      std::min(inserts_.EarliestDeadline(), samples_.EarliestDeadline());
}

void Table::PlanTimerLocked(Turn& turn) {
  if (inserts_.empty() && samples_.empty()) {
    earliest_deadline_ = kNoDeadline;
  } else if (earliest_deadline_ < timer_) {
    timer_ = earliest_deadline_;
    turn.timer = timer_;
  }
}

void Table::Finish(Turn turn) {
  for (int hold = 1;; ++hold) {
    if (turn.timer != kNoDeadline) SetTimer(turn.timer);
    turn.Report();
    if (!turn.more) return;
    if (hold == kMaxHolds) return PostServing();
    turn = Turn();
    MutexLock lock(mu_);
    ServeLocked(turn);
  }
}

void Table::SetTimer(SteadyTime when) {
  executor_.PostAt(when, [weak = weak_from_this(), when] {
    if (const auto self = weak.lock()) self->OnTimer(when);
  });
}

void Table::OnTimer(SteadyTime when) {
  Turn turn;
  {
    MutexLock lock(mu_);
    if (timer_ == when) timer_ = kNoDeadline;
    ServeLocked(turn);
  }
  Finish(std::move(turn));
}

void Table::PostServing() {
  {
    MutexLock lock(mu_);
    if (serving_posted_) return;
    serving_posted_ = true;
  }
  executor_.Post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    Turn turn;
    {
      MutexLock lock(self->mu_);
      self->serving_posted_ = false;
      self->ServeLocked(turn);
    }
    self->Finish(std::move(turn));
  });
}

}  // namespace reverb
