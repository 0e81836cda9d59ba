// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Time as the engine sees it, so that tests can hold it in their hands.
//
// Deadlines are points of the steady clock; wall time is for `inserted_at`
// alone. Threads: thread-safe.

#ifndef REVERB_CC_SUPPORT_CLOCK_H_
#define REVERB_CC_SUPPORT_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace reverb {

using SteadyTime = std::chrono::steady_clock::time_point;
using SteadyDuration = std::chrono::steady_clock::duration;

inline constexpr SteadyTime kNoDeadline = SteadyTime::max();

class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime Now() const = 0;
  // Nanoseconds since the Unix epoch.
  virtual int64_t WallNanos() const = 0;

  // The machine's clocks. Never destroyed.
  static const Clock& Real();
};

// `now + seconds`, saturating: infinity and anything beyond the clock's range
// is `kNoDeadline`, a negative or NaN `seconds` is `now`.
SteadyTime DeadlineAfter(SteadyTime now, double seconds);

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_CLOCK_H_
