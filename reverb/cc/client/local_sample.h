// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Samples from a server of this process, decoded from the table's own chunks.
//
// Threads: as SampleStream.

#ifndef REVERB_CC_CLIENT_LOCAL_SAMPLE_H_
#define REVERB_CC_CLIENT_LOCAL_SAMPLE_H_

#include <memory>

#include "reverb/cc/client/sample_stream.h"
#include "reverb/cc/engine/server_core.h"

namespace reverb {

std::unique_ptr<SampleStream> NewLocalSampleStream(
    std::shared_ptr<ServerCore> core);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_LOCAL_SAMPLE_H_
