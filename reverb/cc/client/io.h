// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The few threads that handle what happens on insert streams, and time as
// gRPC counts it.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_IO_H_
#define REVERB_CC_CLIENT_IO_H_

#include <grpc/support/time.h>
#include <grpcpp/completion_queue.h>

#include "reverb/cc/support/clock.h"

namespace reverb {

// What a completion queue hands back: an operation of a stream that is over.
class IoTag {
 public:
  virtual ~IoTag() = default;
  virtual void Run(bool ok) = 0;
};

// The queue whose events (`IoTag`s) those threads run. Started on first use,
// never destroyed: a stream may end after the exit of the process has begun.
grpc::CompletionQueue& IoQueue();

// The same point of gRPC's monotonic clock.
gpr_timespec ToGprTime(SteadyTime time);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_IO_H_
