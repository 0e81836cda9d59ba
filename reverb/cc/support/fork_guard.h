// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Tells a child forked by a process that had used gRPC to keep its hands off.
//
// gRPC's threads do not survive a fork and its locks may be held: a child that
// called it would hang. One whose parent had only imported reverb is fine.
//
// Threads: thread-safe.

#ifndef REVERB_CC_SUPPORT_FORK_GUARD_H_
#define REVERB_CC_SUPPORT_FORK_GUARD_H_

#include "absl/status/status.h"

namespace reverb {

// Called before the first server or channel of the process is made.
void MarkGrpcUsed();

// Whether a parent of this process had called `MarkGrpcUsed` before the fork.
// Cheap enough for every call.
bool InForkedChildOfGrpcUser();

// FailedPrecondition where `InForkedChildOfGrpcUser`, with the way out.
absl::Status CheckNotForked();

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_FORK_GUARD_H_
