// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What samplers of one worker and of several have in common: how long a `Next`
// waits, what it lets the server wait, how much is in flight, how it ends.

#ifndef REVERB_CC_CLIENT_SAMPLER_RULES_H_
#define REVERB_CC_CLIENT_SAMPLER_RULES_H_

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/sample_fetcher.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/support/clock.h"

namespace reverb {

// How much longer than its timeout a `Next` waits for the server to say that
// it has passed: a request the server gave up takes no sample from anybody.
inline constexpr std::chrono::milliseconds kSampleAnswerGrace{500};

// The end of the sequence.
absl::Status EndOfSamples();

// `options.timeout`, which is set, has passed; `answered`: the server has said
// so.
absl::Status SampleTimeoutError(const Sampler::Options& options,
                                const Endpoint& endpoint, bool answered);

// When a `Next` that begins at `now` has to fail.
SteadyTime SampleTimeoutAt(const Sampler::Options& options, SteadyTime now);

// What a request made at `now` for a `Next` that ends at `deadline` may wait
// at the server.
SampleFetcher::Limit SampleLimitUntil(const Sampler::Options& options,
                                      SteadyTime deadline, SteadyTime now);

// How many samples a worker may have in flight; may ask the server.
absl::StatusOr<int64_t> ChooseInFlight(const Sampler::Options& options,
                                       SignatureCache& signatures,
                                       const WaitOptions& wait);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SAMPLER_RULES_H_
