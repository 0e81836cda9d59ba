// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A sampler of one worker: the caller's own thread reads the stream.
//
// Threads: as Sampler.

#ifndef REVERB_CC_CLIENT_SINGLE_SAMPLER_H_
#define REVERB_CC_CLIENT_SINGLE_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/sample_fetcher.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

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

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SINGLE_SAMPLER_H_
