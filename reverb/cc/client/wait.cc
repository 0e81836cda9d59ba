// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/wait.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace reverb {
namespace {

constexpr char kInterruptedUrl[] = "reverb/Interrupted";

}  // namespace

absl::Status InterruptedError() {
  absl::Status status = absl::CancelledError("interrupted while waiting");
  status.SetPayload(kInterruptedUrl, absl::Cord());
  return status;
}

bool IsInterrupted(const absl::Status& status) {
  return status.code() == absl::StatusCode::kCancelled &&
         status.GetPayload(kInterruptedUrl).has_value();
}

absl::Status InterruptPoll::Check(SteadyTime now) {
  if (!wait_.interrupted || now < next_) return absl::OkStatus();
  next_ = now + kInterruptPeriod;
  return wait_.interrupted() ? InterruptedError() : absl::OkStatus();
}

SteadyTime InterruptPoll::NextWake(SteadyTime now) const {
  return std::min(wait_.deadline, now + kInterruptPeriod);
}

}  // namespace reverb
