// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A sampler of several workers. Each has a thread and a stream; all fill one
// queue, which is bounded by what they may have in flight.
//
// Threads: as Sampler.

#ifndef REVERB_CC_CLIENT_PARALLEL_SAMPLER_H_
#define REVERB_CC_CLIENT_PARALLEL_SAMPLER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/sample_fetcher.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

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

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_PARALLEL_SAMPLER_H_
