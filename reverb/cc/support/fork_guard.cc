// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/fork_guard.h"

#include <pthread.h>

#include <atomic>

#include "absl/status/status.h"

namespace reverb {
namespace {

std::atomic<bool> grpc_used{false};
std::atomic<bool> forked{false};

// Runs in the child, alone, before fork() returns there: nothing else may
// take a lock here, since a thread that did not survive may hold it.
void AfterForkInChild() {
  if (grpc_used.load(std::memory_order_relaxed)) {
    forked.store(true, std::memory_order_relaxed);
  }
}

// Registered when the library is loaded, so that a fork can't come before.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, AfterForkInChild);

}  // namespace

void MarkGrpcUsed() { grpc_used.store(true, std::memory_order_relaxed); }

bool InForkedChildOfGrpcUser() {
  return forked.load(std::memory_order_relaxed);
}

absl::Status CheckNotForked() {
  if (!InForkedChildOfGrpcUser()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this process was forked from one that already used a reverb server or "
      "client, which can't work here: start processes with the 'spawn' "
      "method, or make no server or client before the fork");
}

}  // namespace reverb
