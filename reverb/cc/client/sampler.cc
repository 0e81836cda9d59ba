// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/sampler.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/make_sampler.h"
#include "reverb/cc/client/parallel_sampler.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/client/single_sampler.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/fork_guard.h"

namespace reverb {
namespace {

constexpr int64_t kDefaultSamplesPerStream = 10'000;

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
