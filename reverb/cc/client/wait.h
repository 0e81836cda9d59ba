// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// How calls of a client wait: until a deadline, and ready to be interrupted.

#ifndef REVERB_CC_CLIENT_WAIT_H_
#define REVERB_CC_CLIENT_WAIT_H_

#include <functional>

#include "absl/status/status.h"

#include "reverb/cc/support/clock.h"

namespace reverb {

struct WaitOptions {
  SteadyTime deadline = kNoDeadline;
  // Asked about every 50 ms while a call waits, on the calling thread and
  // without locks held; true ends the call with Cancelled. Bindings look for
  // Ctrl-C here. Empty: never interrupted.
  std::function<bool()> interrupted;
};

// How often `interrupted` is asked.
inline constexpr std::chrono::milliseconds kInterruptPeriod{50};

// The status of an interrupted call, recognised by `IsInterrupted`.
absl::Status InterruptedError();
bool IsInterrupted(const absl::Status& status);

// Asks `WaitOptions::interrupted` at its pace. One per waiting call.
// Threads: one thread.
class InterruptPoll {
 public:
  // `wait` outlives the poll.
  explicit InterruptPoll(const WaitOptions& wait) : wait_(wait) {}

  // OK, or `InterruptedError`. No lock may be held.
  absl::Status Check(SteadyTime now);
  // When a wait that began at `now` has to look up again: at its deadline or
  // after `kInterruptPeriod`.
  SteadyTime NextWake(SteadyTime now) const;

 private:
  const WaitOptions& wait_;
  SteadyTime next_{};
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_WAIT_H_
