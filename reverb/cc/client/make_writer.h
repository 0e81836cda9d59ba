// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Makes legacy writers; apart from writer.h, which speaks of no connections.

#ifndef REVERB_CC_CLIENT_MAKE_WRITER_H_
#define REVERB_CC_CLIENT_MAKE_WRITER_H_

#include <memory>

#include "absl/status/statusor.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/client/writer.h"

namespace reverb {

// InvalidArgument for options out of range. Never blocks.
absl::StatusOr<std::unique_ptr<Writer>> MakeWriter(
    const Writer::Options& options, std::shared_ptr<Endpoint> endpoint,
    std::shared_ptr<SignatureCache> signatures);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_MAKE_WRITER_H_
