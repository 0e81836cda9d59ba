// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// One worker of a sampler: keeps a stream open and samples requested.
//
// Requests as many as may be in flight, in two halves so that the next
// samples are on their way while the last ones are read; opens a new stream
// when one is used up or lost.
//
// Threads: one thread; `Cancel`, `NoteConsumed` and `connected` from any.

#ifndef REVERB_CC_CLIENT_SAMPLE_FETCHER_H_
#define REVERB_CC_CLIENT_SAMPLE_FETCHER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/sample_stream.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

// How many samples the workers of a sampler may still request.
//
// Threads: thread-safe.
class SampleBudget {
 public:
  // Negative: no end.
  explicit SampleBudget(int64_t max_samples)
      : endless_(max_samples < 0), left_(max_samples) {}
  // As many of `wanted` as there are.
  int64_t Take(int64_t wanted);
  void Return(int64_t count);
  bool empty() const { return !endless_ && left_.load() <= 0; }

 private:
  const bool endless_;
  std::atomic<int64_t> left_;
};

class SampleFetcher {
 public:
  struct Options {
    std::string table;
    int64_t max_in_flight = 1;           // >= 1
    int64_t max_samples_per_stream = 1;  // >= 1
  };
  // How long what is requested may wait at the server.
  struct Limit {
    std::optional<int64_t> timeout_ms;
    bool try_once = false;
  };

  SampleFetcher(std::shared_ptr<Endpoint> endpoint, const Options& options,
                std::shared_ptr<SampleBudget> budget);
  ~SampleFetcher();

  // Requests what may be requested now.
  void TopUp(const Limit& limit);
  // Whether there is anything to wait for.
  bool has_outstanding() const { return outstanding_ > 0; }

  struct Event {
    enum Kind {
      kNothing,
      kSample,
      kTimedOut,  // the server's limiter did not allow it in time
      kFailed,    // for good: `status`
    };
    Kind kind = kNothing;
    std::optional<absl::StatusOr<SampleData>> sample = std::nullopt;
    absl::Status status = absl::OkStatus();
  };
  // What comes before `until`. After kTimedOut or a lost connection, `TopUp`
  // requests again what was not answered.
  Event Next(SteadyTime until);

  // A sample has been handed to the user.
  void NoteConsumed() { unconsumed_.fetch_sub(1); }

  bool connected() const { return connected_.load(); }
  void Cancel();

 private:
  void OpenStream();
  void DropStream();

  const std::shared_ptr<Endpoint> endpoint_;
  const Options options_;
  const std::shared_ptr<SampleBudget> budget_;

  std::unique_ptr<SampleStream> stream_;
  SteadyTime opened_at_{};
  int64_t outstanding_ = 0;          // requested and not received
  int64_t requested_on_stream_ = 0;  // in all
  SteadyTime retry_at_{};
  Backoff backoff_;
  std::atomic<int64_t> unconsumed_{0};  // received and not consumed
  std::atomic<bool> connected_{false};

  Mutex mu_;
  CondVar cancel_;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  SampleStream* current_ ABSL_GUARDED_BY(mu_) = nullptr;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SAMPLE_FETCHER_H_
