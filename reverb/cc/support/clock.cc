// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/clock.h"

#include <chrono>
#include <cstdint>

namespace reverb {
namespace {

class RealClock final : public Clock {
 public:
  SteadyTime Now() const override { return std::chrono::steady_clock::now(); }
  int64_t WallNanos() const override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace

const Clock& Clock::Real() {
  static const Clock* const clock = new RealClock;
  return *clock;
}

SteadyTime DeadlineAfter(SteadyTime now, double seconds) {
  if (!(seconds > 0)) return now;
  // Ten years stand for "for ever"; no sum below can overflow.
  constexpr double kForever = 10.0 * 365 * 24 * 3600;
  if (seconds >= kForever) return kNoDeadline;
  return now + std::chrono::duration_cast<SteadyDuration>(
                   std::chrono::duration<double>(seconds));
}

}  // namespace reverb
