// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Makes samplers; apart from sampler.h, which speaks of no connections.

#ifndef REVERB_CC_CLIENT_MAKE_SAMPLER_H_
#define REVERB_CC_CLIENT_MAKE_SAMPLER_H_

#include <memory>

#include "absl/status/statusor.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/client/signature_cache.h"

namespace reverb {

// InvalidArgument for options out of range. Never blocks.
absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(
    const Sampler::Options& options, std::shared_ptr<Endpoint> endpoint,
    std::shared_ptr<SignatureCache> signatures);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_MAKE_SAMPLER_H_
