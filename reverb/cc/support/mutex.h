// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A mutex and a condition variable that Clang's thread safety analysis knows.
//
// Built on the standard library so that timed waits follow the steady clock:
// Abseil's follow wall time here, and a step of the wall clock must neither
// cut a deadline short nor make it last.
//
// Threads: thread-safe.

#ifndef REVERB_CC_SUPPORT_MUTEX_H_
#define REVERB_CC_SUPPORT_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace reverb {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mu_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mu_.unlock(); }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    return mu_.try_lock();
  }

 private:
  friend class CondVar;
  std::mutex mu_;
};

// Holds a mutex for the length of a scope; `Unlock` and `Lock` open a gap.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) {
    mu_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() {
    if (held_) mu_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() ABSL_UNLOCK_FUNCTION() {
    held_ = false;
    mu_.Unlock();
  }
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    mu_.Lock();
    held_ = true;
  }

 private:
  Mutex& mu_;
  bool held_ = true;
};

class CondVar {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

  // Waits for a notification; may also return without one.
  void Wait(Mutex& mu) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // As `Wait`, but for no longer than until `deadline`; false if it passed.
  // TimePoint::max() waits without a deadline.
  bool WaitUntil(Mutex& mu, TimePoint deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (deadline == TimePoint::max()) {
      Wait(mu);
      return true;
    }
    std::unique_lock<std::mutex> lock(mu.mu_, std::adopt_lock);
    const bool in_time =
        cv_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }

 private:
  std::condition_variable cv_;
};

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_MUTEX_H_
