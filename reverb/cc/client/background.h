// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What goes on after its object, or the interpreter, is gone: the pending
// items of dropped writers, and the end of all clients at exit.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_BACKGROUND_H_
#define REVERB_CC_CLIENT_BACKGROUND_H_

#include <cstdint>
#include <memory>

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/support/clock.h"

namespace reverb {

// Lets `stream` confirm what is pending, for `reconnect_timeout` at most;
// then closes it. Never blocks.
void FinishInBackground(const Endpoint& endpoint,
                        std::shared_ptr<InsertStream> stream);

// Waits for all those streams until `deadline`, then closes the rest. The
// number of items given up, which is logged.
int64_t EndBackgroundStreams(SteadyTime deadline);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_BACKGROUND_H_
