// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/mutex.h"

#include <chrono>
#include <thread>

#include "gtest/gtest.h"

namespace reverb {
namespace {

using std::chrono::steady_clock;

bool IsFree(Mutex& mu) {
  if (!mu.TryLock()) return false;
  mu.Unlock();
  return true;
}

TEST(MutexLock, HoldsForItsScopeExceptInTheGap) {
  Mutex mu;
  {
    MutexLock lock(mu);
    lock.Unlock();
    EXPECT_TRUE(IsFree(mu));
    lock.Lock();
  }
  EXPECT_TRUE(IsFree(mu));
  {
    MutexLock lock(mu);
    lock.Unlock();
  }
  EXPECT_TRUE(IsFree(mu));
}

TEST(CondVar, TimedWaitEndsAtItsDeadline) {
  Mutex mu;
  CondVar cv;
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(5);
  MutexLock lock(mu);
  while (cv.WaitUntil(mu, deadline)) {
  }
  EXPECT_GE(steady_clock::now(), deadline);
}

TEST(CondVar, WaitWithoutADeadlineEndsByNotification) {
  Mutex mu;
  CondVar cv;
  bool ready = false;
  std::thread other([&] {
    MutexLock lock(mu);
    ready = true;
    cv.NotifyOne();
  });
  {
    MutexLock lock(mu);
    while (!ready) {
      EXPECT_TRUE(cv.WaitUntil(mu, CondVar::TimePoint::max()));
    }
  }
  other.join();
}

}  // namespace
}  // namespace reverb
