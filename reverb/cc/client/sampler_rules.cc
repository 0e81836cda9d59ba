// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/sampler_rules.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

// Where sampling removes nothing.
constexpr int64_t kDefaultInFlight = 64;

// What "try once" allows for the connection and the answer.
constexpr std::chrono::seconds kTryOnceTime{2};

}  // namespace

absl::Status EndOfSamples() {
  return absl::OutOfRangeError("the sampler has come to its end");
}

absl::Status SampleTimeoutError(const Sampler::Options& options,
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

SteadyTime SampleTimeoutAt(const Sampler::Options& options, SteadyTime now) {
  if (!options.timeout) return kNoDeadline;
  if (*options.timeout <= 0) return now + kTryOnceTime;
  return DeadlineAfter(now, *options.timeout);
}

SampleFetcher::Limit SampleLimitUntil(const Sampler::Options& options,
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

}  // namespace reverb
