// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A SampleStream call over gRPC, on the thread that reads it.
//
// Threads: as SampleStream.

#ifndef REVERB_CC_CLIENT_REMOTE_SAMPLE_H_
#define REVERB_CC_CLIENT_REMOTE_SAMPLE_H_

#include <memory>

#include "reverb/cc/client/channel.h"
#include "reverb/cc/client/sample_stream.h"

namespace reverb {

std::unique_ptr<SampleStream> NewRemoteSampleStream(
    std::shared_ptr<Channels> channels);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_REMOTE_SAMPLE_H_
