// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// An executor whose tasks run when the test says so, on the test's thread.
//
// Threads: thread-safe, but only one thread may run tasks.

#ifndef TESTS_CC_TESTING_MANUAL_EXECUTOR_H_
#define TESTS_CC_TESTING_MANUAL_EXECUTOR_H_

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/executor.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

class ManualExecutor final : public Executor {
 public:
  explicit ManualExecutor(const Clock& clock) : clock_(clock) {}

  void Post(Task task) override {
    MutexLock lock(mu_);
    ready_.push_back(std::move(task));
  }
  void PostAt(SteadyTime when, Task task) override {
    if (when == kNoDeadline) return;
    MutexLock lock(mu_);
    timed_.emplace(when, std::move(task));
  }

  // Runs one task that is due by the clock; false if there is none.
  bool RunOne() {
    Task task;
    {
      MutexLock lock(mu_);
      if (!ready_.empty()) {
        task = std::move(ready_.front());
        ready_.pop_front();
      } else if (!timed_.empty() && timed_.begin()->first <= clock_.Now()) {
        task = std::move(timed_.begin()->second);
        timed_.erase(timed_.begin());
      } else {
        return false;
      }
    }
    task();
    return true;
  }
  // Runs tasks until none is due.
  void RunAll() {
    while (RunOne()) {
    }
  }

  size_t num_ready() const {
    MutexLock lock(mu_);
    return ready_.size();
  }
  size_t num_timed() const {
    MutexLock lock(mu_);
    return timed_.size();
  }

 private:
  const Clock& clock_;
  mutable Mutex mu_;
  std::deque<Task> ready_ ABSL_GUARDED_BY(mu_);
  std::multimap<SteadyTime, Task> timed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reverb

#endif  // TESTS_CC_TESTING_MANUAL_EXECUTOR_H_
