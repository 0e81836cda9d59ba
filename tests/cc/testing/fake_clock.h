// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A clock that stands still until a test moves it.
//
// Threads: thread-safe.

#ifndef TESTS_CC_TESTING_FAKE_CLOCK_H_
#define TESTS_CC_TESTING_FAKE_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "reverb/cc/support/clock.h"

namespace reverb {

class FakeClock final : public Clock {
 public:
  SteadyTime Now() const override {
    return SteadyTime(std::chrono::nanoseconds(steady_.load()));
  }
  int64_t WallNanos() const override { return wall_.load(); }

  void Advance(SteadyDuration duration) {
    steady_ += std::chrono::nanoseconds(duration).count();
  }
  void SetWallNanos(int64_t nanos) { wall_ = nanos; }

 private:
  std::atomic<int64_t> steady_ = int64_t{1'000'000'000};
  std::atomic<int64_t> wall_ = int64_t{1'600'000'000'000'000'000};
};

}  // namespace reverb

#endif  // TESTS_CC_TESTING_FAKE_CLOCK_H_
