// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/single_sampler.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/sampler_rules.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {

absl::Status SingleSampler::Prepare(const WaitOptions& wait) {
  if (fetcher() != nullptr) return absl::OkStatus();
  WaitOptions limited = wait;
  limited.deadline =
      std::min(wait.deadline, SampleTimeoutAt(options_, Clock::Real().Now()));
  REVERB_ASSIGN_OR_RETURN(const int64_t in_flight,
                          ChooseInFlight(options_, *signatures_, limited));
  auto made = std::make_unique<SampleFetcher>(
      endpoint_,
      SampleFetcher::Options{
          .table = options_.table,
          .max_in_flight = in_flight,
          .max_samples_per_stream = options_.max_samples_per_stream},
      budget_);
  MutexLock lock(mu_);
  fetcher_ = std::move(made);
  return absl::OkStatus();
}

absl::StatusOr<SampleData> SingleSampler::Next(const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  if (closed()) return absl::CancelledError("the sampler has been closed");
  if (!final_.ok()) return final_;
  if (options_.max_samples >= 0 && returned_ >= options_.max_samples) {
    return EndOfSamples();
  }
  const SteadyTime begin = Clock::Real().Now();
  const SteadyTime deadline = SampleTimeoutAt(options_, begin);
  const bool try_once = options_.timeout && *options_.timeout <= 0;
  const bool has_timeout =
      options_.timeout || options_.rate_limiter_timeout_ms > 0;
  if (absl::Status status = Prepare(wait); !status.ok()) {
    if (absl::IsDeadlineExceeded(status) && Clock::Real().Now() >= deadline) {
      return final_ = SampleTimeoutError(options_, *endpoint_, false);
    }
    return status;
  }
  SampleFetcher& fetcher = *this->fetcher();
  AwayTimer away(*endpoint_);
  InterruptPoll interrupt(wait);
  // What came before this call is looked at without waiting: a timeout of the
  // limiter that nobody waited through only renews the request.
  bool waiting = !has_timeout || !fetcher.has_outstanding();
  SteadyTime now = begin;
  while (true) {
    fetcher.TopUp(SampleLimitUntil(options_, deadline, now));
    const SteadyTime until =
        waiting
            ? std::min(interrupt.NextWake(now),
                       std::max(deadline, now + std::chrono::milliseconds(1)))
            : now;
    SampleFetcher::Event event = fetcher.Next(until);
    now = Clock::Real().Now();
    switch (event.kind) {
      case SampleFetcher::Event::kSample:
        fetcher.NoteConsumed();
        ++returned_;
        // The next ones are on their way while the caller uses this one.
        fetcher.TopUp(
            SampleLimitUntil(options_, SampleTimeoutAt(options_, now), now));
        return *std::move(event.sample);
      case SampleFetcher::Event::kFailed:
        return Finish(std::move(event.status));
      case SampleFetcher::Event::kTimedOut:
        if (waiting && options_.timeout && (try_once || now >= deadline)) {
          return Finish(SampleTimeoutError(options_, *endpoint_, true));
        }
        if (waiting && options_.rate_limiter_timeout_ms > 0 &&
            (!options_.timeout || now < deadline)) {
          return Finish(EndOfSamples());
        }
        waiting = true;
        continue;
      case SampleFetcher::Event::kNothing:
        break;
    }
    if (!std::exchange(waiting, true)) continue;
    if (closed()) return absl::CancelledError("closed while waiting");
    REVERB_RETURN_IF_ERROR(endpoint_->Check());
    const bool connected = fetcher.connected();
    if (now >= deadline && (!connected || !fetcher.has_outstanding() ||
                            now >= deadline + kSampleAnswerGrace)) {
      return Finish(SampleTimeoutError(
          options_, *endpoint_, connected && !fetcher.has_outstanding()));
    }
    if (now >= wait.deadline) {
      return absl::DeadlineExceededError(
          "Timeout exceeded while waiting for a sample.");
    }
    REVERB_RETURN_IF_ERROR(interrupt.Check(now));
    REVERB_RETURN_IF_ERROR(away.Check(connected, now));
  }
}

}  // namespace reverb
