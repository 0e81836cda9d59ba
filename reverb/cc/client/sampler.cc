// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/sampler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/make_sampler.h"
#include "reverb/cc/client/sample_fetcher.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

constexpr int64_t kDefaultSamplesPerStream = 10'000;
// Where sampling removes nothing.
constexpr int64_t kDefaultInFlight = 64;

// How much longer than its timeout a `Next` waits for the server to say that
// it has passed: a request the server gave up takes no sample from anybody.
constexpr std::chrono::milliseconds kAnswerGrace{500};
// What "try once" allows for the connection and the answer.
constexpr std::chrono::seconds kTryOnceTime{2};

absl::Status EndOfSamples() {
  return absl::OutOfRangeError("the sampler has come to its end");
}

absl::Status TimeoutError(const Sampler::Options& options,
                          const Endpoint& endpoint, bool answered) {
  return WithErrorInfo(
      absl::DeadlineExceededError(
          answered
              ? absl::StrCat("Timeout exceeded: table '", options.table,
                             "' had nothing to sample within ",
                             *options.timeout, " seconds.")
              : absl::StrCat("Timeout exceeded: the server at '",
                             endpoint.options().target,
                             "' has not answered for table '", options.table,
                             "' within ", *options.timeout, " seconds.")),
      {.table = options.table, .limit = absl::StrCat(*options.timeout)});
}

// When a `Next` that begins at `now` has to fail.
SteadyTime TimeoutAt(const Sampler::Options& options, SteadyTime now) {
  if (!options.timeout) return kNoDeadline;
  if (*options.timeout <= 0) return now + kTryOnceTime;
  return DeadlineAfter(now, *options.timeout);
}

// What a request made now for a `Next` that ends at `deadline` may wait.
SampleFetcher::Limit LimitUntil(const Sampler::Options& options,
                                SteadyTime deadline, SteadyTime now) {
  SampleFetcher::Limit limit;
  if (options.rate_limiter_timeout_ms > 0) {
    limit.timeout_ms = options.rate_limiter_timeout_ms;
  }
  if (!options.timeout) return limit;
  if (*options.timeout <= 0) {
    // A server that doesn't know `try_once` waits a millisecond.
    return {.timeout_ms = 1, .try_once = true};
  }
  if (deadline == kNoDeadline) return limit;
  const int64_t left = std::max<int64_t>(
      1, std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count());
  limit.timeout_ms = std::min(limit.timeout_ms.value_or(left), left);
  return limit;
}

absl::StatusOr<int64_t> ChooseInFlight(const Sampler::Options& options,
                                       SignatureCache& signatures,
                                       const WaitOptions& wait) {
  if (options.max_in_flight) return *options.max_in_flight;
  if (options.max_samples == 1) return 1;
  // An unknown table is for the server to refuse.
  REVERB_ASSIGN_OR_RETURN(const std::optional<int32_t> max_times_sampled,
                          signatures.MaxTimesSampled(options.table, wait));
  return max_times_sampled && *max_times_sampled < 1 ? kDefaultInFlight : 1;
}

// The caller's thread reads the one stream.
class SingleSampler final : public Sampler, public Closable {
 public:
  SingleSampler(const Options& options, std::shared_ptr<Endpoint> endpoint,
                std::shared_ptr<SignatureCache> signatures)
      : options_(options),
        endpoint_(std::move(endpoint)),
        signatures_(std::move(signatures)),
        budget_(std::make_shared<SampleBudget>(options.max_samples)) {}

  absl::StatusOr<SampleData> Next(const WaitOptions& wait) override;

  void Close() override {
    MutexLock lock(mu_);
    closed_ = true;
    if (fetcher_ != nullptr) fetcher_->Cancel();
  }

 private:
  absl::Status Prepare(const WaitOptions& wait);
  bool closed() {
    MutexLock lock(mu_);
    return closed_;
  }
  // Ends the sampler.
  absl::Status Finish(absl::Status status) {
    final_ = std::move(status);
    fetcher()->Cancel();
    return final_;
  }
  // Made once, by the thread that calls `Next`.
  SampleFetcher* fetcher() {
    MutexLock lock(mu_);
    return fetcher_.get();
  }

  const Options options_;
  const std::shared_ptr<Endpoint> endpoint_;
  const std::shared_ptr<SignatureCache> signatures_;
  const std::shared_ptr<SampleBudget> budget_;
  int64_t returned_ = 0;
  absl::Status final_;

  Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::unique_ptr<SampleFetcher> fetcher_ ABSL_GUARDED_BY(mu_);
};

absl::Status SingleSampler::Prepare(const WaitOptions& wait) {
  if (fetcher() != nullptr) return absl::OkStatus();
  WaitOptions limited = wait;
  limited.deadline =
      std::min(wait.deadline, TimeoutAt(options_, Clock::Real().Now()));
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
  const SteadyTime deadline = TimeoutAt(options_, begin);
  const bool try_once = options_.timeout && *options_.timeout <= 0;
  const bool has_timeout =
      options_.timeout || options_.rate_limiter_timeout_ms > 0;
  if (absl::Status status = Prepare(wait); !status.ok()) {
    if (absl::IsDeadlineExceeded(status) && Clock::Real().Now() >= deadline) {
      return final_ = TimeoutError(options_, *endpoint_, false);
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
    fetcher.TopUp(LimitUntil(options_, deadline, now));
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
        fetcher.TopUp(LimitUntil(options_, TimeoutAt(options_, now), now));
        return *std::move(event.sample);
      case SampleFetcher::Event::kFailed:
        return Finish(std::move(event.status));
      case SampleFetcher::Event::kTimedOut:
        if (waiting && options_.timeout && (try_once || now >= deadline)) {
          return Finish(TimeoutError(options_, *endpoint_, true));
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
                            now >= deadline + kAnswerGrace)) {
      return Finish(TimeoutError(options_, *endpoint_,
                                 connected && !fetcher.has_outstanding()));
    }
    if (now >= wait.deadline) {
      return absl::DeadlineExceededError(
          "Timeout exceeded while waiting for a sample.");
    }
    REVERB_RETURN_IF_ERROR(interrupt.Check(now));
    REVERB_RETURN_IF_ERROR(away.Check(connected, now));
  }
}

// Each worker has a thread and a stream; all fill one queue, which is bounded
// by what they may have in flight.
class ParallelSampler final : public Sampler, public Closable {
 public:
  ParallelSampler(const Options& options, std::shared_ptr<Endpoint> endpoint,
                  std::shared_ptr<SignatureCache> signatures)
      : options_(options),
        endpoint_(std::move(endpoint)),
        signatures_(std::move(signatures)),
        budget_(std::make_shared<SampleBudget>(options.max_samples)) {}
  ~ParallelSampler() override;

  absl::StatusOr<SampleData> Next(const WaitOptions& wait) override;
  void Close() override;

 private:
  struct Worker {
    std::unique_ptr<SampleFetcher> fetcher;
    std::thread thread;
  };
  struct Entry {
    SampleFetcher* from = nullptr;
    absl::StatusOr<SampleData> sample;
  };

  absl::Status Start(const WaitOptions& wait);
  void Run(SampleFetcher& fetcher);
  // Ends the workers; the first status stays.
  void FinishLocked(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const std::shared_ptr<Endpoint> endpoint_;
  const std::shared_ptr<SignatureCache> signatures_;
  const std::shared_ptr<SampleBudget> budget_;
  int64_t returned_ = 0;

  Mutex mu_;
  CondVar filled_;    // the queue, or `final_`
  CondVar consumed_;  // or the budget, or `final_`
  std::deque<Entry> queue_ ABSL_GUARDED_BY(mu_);
  int num_waiters_ ABSL_GUARDED_BY(mu_) = 0;
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status final_ ABSL_GUARDED_BY(mu_);
  std::vector<Worker> workers_ ABSL_GUARDED_BY(mu_);
};

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
    fetcher.TopUp(LimitUntil(options_, TimeoutAt(options_, now), now));
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
  const SteadyTime deadline = TimeoutAt(options_, Clock::Real().Now());
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
      FinishLocked(TimeoutError(options_, *endpoint_, connected));
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

// Owned by the caller, and closed with its client, which knows it weakly.
template <typename Impl>
class OwnedSampler final : public Sampler {
 public:
  template <typename... Args>
  explicit OwnedSampler(Endpoint& endpoint, Args&&... args)
      : impl_(std::make_shared<Impl>(std::forward<Args>(args)...)) {
    endpoint.Adopt(impl_);
  }
  ~OwnedSampler() override {
    if (!InForkedChildOfGrpcUser()) impl_->Close();
  }
  absl::StatusOr<SampleData> Next(const WaitOptions& wait) override {
    return impl_->Next(wait);
  }
  void Close() override {
    if (!InForkedChildOfGrpcUser()) impl_->Close();
  }

 private:
  const std::shared_ptr<Impl> impl_;
};

absl::Status OutOfRange(absl::string_view name, absl::string_view expected,
                        int64_t value) {
  return WithErrorInfo(
      absl::InvalidArgumentError(
          absl::StrCat(name, " must be ", expected, ", got ", value)),
      {.limit = std::string(expected), .actual = absl::StrCat(value)});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(
    const Sampler::Options& options, std::shared_ptr<Endpoint> endpoint,
    std::shared_ptr<SignatureCache> signatures) {
  Sampler::Options checked = options;
  if (options.max_samples < -1 || options.max_samples == 0) {
    return OutOfRange("max_samples", "-1 or at least 1", options.max_samples);
  }
  if (options.max_in_flight && *options.max_in_flight < 1) {
    return OutOfRange("max_in_flight_samples_per_worker", "at least 1",
                      *options.max_in_flight);
  }
  if (options.num_workers < -1 || options.num_workers == 0) {
    return OutOfRange("num_workers", "-1 or at least 1", options.num_workers);
  }
  if (options.max_samples_per_stream < -1 ||
      options.max_samples_per_stream == 0) {
    return OutOfRange("max_samples_per_stream", "-1 or at least 1",
                      options.max_samples_per_stream);
  }
  if (options.timeout && std::isnan(*options.timeout)) {
    return absl::InvalidArgumentError("timeout must not be NaN");
  }
  if (checked.num_workers == -1) checked.num_workers = 1;
  if (checked.max_samples_per_stream == -1) {
    checked.max_samples_per_stream = kDefaultSamplesPerStream;
  }
  Endpoint& owner = *endpoint;  // kept by the sampler
  // To try once is to ask one server once.
  const bool try_once = options.timeout && *options.timeout <= 0;
  if (checked.num_workers == 1 || try_once) {
    return std::make_unique<OwnedSampler<SingleSampler>>(
        owner, checked, std::move(endpoint), std::move(signatures));
  }
  return std::make_unique<OwnedSampler<ParallelSampler>>(
      owner, checked, std::move(endpoint), std::move(signatures));
}

}  // namespace reverb
