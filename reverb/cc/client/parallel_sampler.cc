// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/parallel_sampler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/sampler_rules.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {

ParallelSampler::~ParallelSampler() {
  const bool forked = InForkedChildOfGrpcUser();
  if (!forked) Close();
  std::vector<Worker> workers;
  if (forked) {
    // The threads are not there; their lock may be held for ever.
    new std::vector<Worker>(std::move(workers_));
    return;
  }
  {
    MutexLock lock(mu_);
    workers.swap(workers_);
  }
  // They have been cancelled and wait for nothing.
  for (Worker& worker : workers) worker.thread.join();
}

void ParallelSampler::FinishLocked(absl::Status status) {
  if (final_.ok()) final_ = std::move(status);
  stopping_ = true;
  for (Worker& worker : workers_) worker.fetcher->Cancel();
  filled_.NotifyAll();
  consumed_.NotifyAll();
}

void ParallelSampler::Close() {
  MutexLock lock(mu_);
  closed_ = true;
  FinishLocked(absl::CancelledError("the sampler has been closed"));
}

absl::Status ParallelSampler::Start(const WaitOptions& wait) {
  {
    MutexLock lock(mu_);
    if (started_) return absl::OkStatus();
  }
  REVERB_ASSIGN_OR_RETURN(const int64_t in_flight,
                          ChooseInFlight(options_, *signatures_, wait));
  int64_t num_workers = options_.num_workers;
  if (options_.max_samples >= 0) {
    num_workers = std::min(
        num_workers, std::max<int64_t>(1, options_.max_samples / in_flight));
  }
  MutexLock lock(mu_);
  started_ = true;
  if (stopping_) return absl::OkStatus();
  for (int64_t i = 0; i < num_workers; ++i) {
    Worker& worker = workers_.emplace_back();
    worker.fetcher = std::make_unique<SampleFetcher>(
        endpoint_,
        SampleFetcher::Options{
            .table = options_.table,
            .max_in_flight = in_flight,
            .max_samples_per_stream = options_.max_samples_per_stream},
        budget_);
    try {
      worker.thread = std::thread(
          [this, fetcher = worker.fetcher.get()] { Run(*fetcher); });
    } catch (const std::system_error& error) {
      // The system has no more threads: fewer do, but none don't.
      workers_.pop_back();
      if (!workers_.empty()) break;
      started_ = false;
      return absl::ResourceExhaustedError(absl::StrCat(
          "no thread could be started for the sampler: ", error.what()));
    }
  }
  return absl::OkStatus();
}

void ParallelSampler::Run(SampleFetcher& fetcher) {
  while (true) {
    const SteadyTime now = Clock::Real().Now();
    fetcher.TopUp(
        SampleLimitUntil(options_, SampleTimeoutAt(options_, now), now));
    {
      MutexLock lock(mu_);
      if (stopping_) return;
      if (!fetcher.has_outstanding()) {
        // Waits for the reader, for what another worker gives back, or for the
        // next attempt to connect.
        consumed_.WaitUntil(mu_, now + kInterruptPeriod);
        continue;
      }
    }
    SampleFetcher::Event event = fetcher.Next(now + std::chrono::seconds(1));
    MutexLock lock(mu_);
    if (stopping_) return;
    switch (event.kind) {
      case SampleFetcher::Event::kNothing:
        break;
      case SampleFetcher::Event::kSample:
        queue_.push_back({&fetcher, *std::move(event.sample)});
        filled_.NotifyOne();
        break;
      case SampleFetcher::Event::kTimedOut:
        if (options_.rate_limiter_timeout_ms > 0 && !options_.timeout &&
            num_waiters_ > 0 && queue_.empty()) {
          return FinishLocked(EndOfSamples());
        }
        break;
      case SampleFetcher::Event::kFailed:
        return FinishLocked(std::move(event.status));
    }
  }
}

absl::StatusOr<SampleData> ParallelSampler::Next(const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  if (options_.max_samples >= 0 && returned_ >= options_.max_samples) {
    return EndOfSamples();
  }
  const SteadyTime deadline = SampleTimeoutAt(options_, Clock::Real().Now());
  WaitOptions limited = wait;
  limited.deadline = std::min(wait.deadline, deadline);
  REVERB_RETURN_IF_ERROR(Start(limited));
  AwayTimer away(*endpoint_);
  InterruptPoll interrupt(wait);
  std::optional<Entry> entry;
  MutexLock lock(mu_);
  ++num_waiters_;
  absl::Status result;
  while (result.ok()) {
    if (closed_) {
      result = absl::CancelledError("the sampler has been closed");
      break;
    }
    if (!queue_.empty()) {
      entry = std::move(queue_.front());
      queue_.pop_front();
      break;
    }
    if (!final_.ok()) {
      result = final_;
      break;
    }
    const SteadyTime now = Clock::Real().Now();
    const bool connected =
        std::any_of(workers_.begin(), workers_.end(),
                    [](const Worker& w) { return w.fetcher->connected(); });
    if (now >= deadline) {
      FinishLocked(SampleTimeoutError(options_, *endpoint_, connected));
      continue;
    }
    if (now >= wait.deadline) {
      result = absl::DeadlineExceededError(
          "Timeout exceeded while waiting for a sample.");
      break;
    }
    lock.Unlock();
    result = endpoint_->Check();
    if (result.ok()) result = interrupt.Check(now);
    if (result.ok()) result = away.Check(connected, now);
    lock.Lock();
    if (result.ok() && queue_.empty() && final_.ok()) {
      filled_.WaitUntil(mu_, std::min(interrupt.NextWake(now), deadline));
    }
  }
  --num_waiters_;
  if (!entry) return result;
  entry->from->NoteConsumed();
  ++returned_;
  consumed_.NotifyAll();
  return std::move(entry->sample);
}

}  // namespace reverb
