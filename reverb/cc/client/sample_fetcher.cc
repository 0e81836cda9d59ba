// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/sample_fetcher.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"

#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/table/table.h"

namespace reverb {
namespace {

// A stream that has lived so long without a sample has a server behind it.
constexpr std::chrono::seconds kGoodLife{1};

}  // namespace

int64_t SampleBudget::Take(int64_t wanted) {
  if (endless_) return wanted;
  int64_t left = left_.load();
  int64_t taken = 0;
  do {
    taken = std::clamp<int64_t>(left, 0, wanted);
  } while (!left_.compare_exchange_weak(left, left - taken));
  return taken;
}

void SampleBudget::Return(int64_t count) {
  if (!endless_) left_.fetch_add(count);
}

SampleFetcher::SampleFetcher(std::shared_ptr<Endpoint> endpoint,
                             const Options& options,
                             std::shared_ptr<SampleBudget> budget)
    : endpoint_(std::move(endpoint)),
      options_(options),
      budget_(std::move(budget)) {}

SampleFetcher::~SampleFetcher() {
  if (InForkedChildOfGrpcUser()) {
    // gRPC can't be used there, not even to let go of a call.
    (void)stream_.release();
    return;
  }
  DropStream();
}

void SampleFetcher::OpenStream() {
  stream_ = endpoint_->backend()->NewSampleStream();
  opened_at_ = Clock::Real().Now();
  requested_on_stream_ = 0;
  MutexLock lock(mu_);
  current_ = stream_.get();
  if (cancelled_) current_->Cancel();
}

void SampleFetcher::DropStream() {
  {
    MutexLock lock(mu_);
    current_ = nullptr;
  }
  stream_.reset();
  connected_.store(false);
  budget_->Return(std::exchange(outstanding_, 0));
}

void SampleFetcher::TopUp(const Limit& limit) {
  if (outstanding_ == 0 &&
      requested_on_stream_ >= options_.max_samples_per_stream) {
    DropStream();
    requested_on_stream_ = 0;
  }
  // Half a window at a time: messages of several samples, and never a pause.
  if (outstanding_ > options_.max_in_flight / 2) return;
  const int64_t in_flight = outstanding_ + unconsumed_.load();
  int64_t wanted = std::min(
      options_.max_in_flight - in_flight,
      options_.max_samples_per_stream - (stream_ ? requested_on_stream_ : 0));
  wanted = std::min<int64_t>(wanted, std::numeric_limits<int32_t>::max());
  if (wanted <= 0) return;
  if (stream_ == nullptr && Clock::Real().Now() < retry_at_) return;
  wanted = budget_->Take(wanted);
  if (wanted == 0) return;
  if (stream_ == nullptr) OpenStream();
  stream_->Request({.table = options_.table,
                    .num_samples = wanted,
                    .timeout_ms = limit.timeout_ms,
                    .try_once = limit.try_once});
  outstanding_ += wanted;
  requested_on_stream_ += wanted;
}

SampleFetcher::Event SampleFetcher::Next(SteadyTime until) {
  if (stream_ == nullptr) {
    // Lost, and not yet time for another attempt.
    MutexLock lock(mu_);
    if (!cancelled_ && Clock::Real().Now() < retry_at_) {
      cancel_.WaitUntil(mu_, std::min(until, retry_at_));
    }
    return {.kind = Event::kNothing};
  }
  SampleStream::Event event = stream_->Next(until);
  if (stream_->connected()) endpoint_->NoteReached();
  switch (event.kind) {
    case SampleStream::Event::kNothing:
      if (stream_->connected() &&
          Clock::Real().Now() - opened_at_ >= kGoodLife) {
        connected_.store(true);
      }
      return {.kind = Event::kNothing};
    case SampleStream::Event::kSample:
      connected_.store(true);
      backoff_.Reset();
      --outstanding_;
      unconsumed_.fetch_add(1);
      return {.kind = Event::kSample, .sample = std::move(event.sample)};
    case SampleStream::Event::kEnded:
      break;
  }
  const bool timed_out =
      absl::IsDeadlineExceeded(event.ended) &&
      absl::StrContains(event.ended.message(), kRateLimiterTimeoutText);
  if (connected_.load() || timed_out) backoff_.Reset();
  const bool connected = timed_out && stream_->connected();
  DropStream();
  if (timed_out) {
    connected_.store(connected);
    return {.kind = Event::kTimedOut};
  }
  if (!IsLostConnection(event.ended)) {
    return {.kind = Event::kFailed, .status = std::move(event.ended)};
  }
  retry_at_ = Clock::Real().Now() + backoff_.Next();
  return {.kind = Event::kNothing};
}

void SampleFetcher::Cancel() {
  MutexLock lock(mu_);
  cancelled_ = true;
  if (current_ != nullptr) current_->Cancel();
  cancel_.NotifyAll();
}

}  // namespace reverb
