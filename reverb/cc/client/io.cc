// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/io.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace reverb {
namespace {

void RunEvents(grpc::CompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<IoTag*>(tag)->Run(ok);
}

grpc::CompletionQueue* StartIo() {
  auto* queue = new grpc::CompletionQueue;
  const unsigned cores = std::thread::hardware_concurrency();
  const int num_threads = static_cast<int>(std::clamp(cores / 4, 1u, 4u));
  for (int i = 0; i < num_threads; ++i) {
    std::thread(RunEvents, queue).detach();
  }
  return queue;
}

}  // namespace

grpc::CompletionQueue& IoQueue() {
  static grpc::CompletionQueue* const queue = StartIo();
  return *queue;
}

gpr_timespec ToGprTime(SteadyTime time) {
  if (time == kNoDeadline) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
      time - Clock::Real().Now());
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_nanos(left.count(), GPR_TIMESPAN));
}

}  // namespace reverb
