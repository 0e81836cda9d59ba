// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/executor.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int num_threads) {
    threads_.reserve(num_threads);
    for (int i = 0; i < num_threads; ++i) {
      try {
        threads_.emplace_back([this] { Run(); });
      } catch (const std::system_error&) {
        // The system has no more threads: fewer do, but none don't.
        if (threads_.empty()) throw;
        break;
      }
    }
  }

  ~ThreadPool() override {
    {
      MutexLock lock(mu_);
      stopping_ = true;
    }
    wake_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
    DropTasks();
  }

  void Post(Task task) override {
    {
      MutexLock lock(mu_);
      ready_.push_back(std::move(task));
    }
    wake_.NotifyOne();
  }

  void PostAt(SteadyTime when, Task task) override {
    if (when == kNoDeadline) return;
    {
      MutexLock lock(mu_);
      timed_.push_back({when, next_sequence_++, std::move(task)});
      std::push_heap(timed_.begin(), timed_.end(), Later);
    }
    wake_.NotifyOne();
  }

 private:
  struct Timed {
    SteadyTime when;
    uint64_t sequence;
    Task task;
  };
  static bool Later(const Timed& a, const Timed& b) {
    return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
  }

  // What a task holds may post more tasks as it goes.
  void DropTasks() {
    while (true) {
      std::deque<Task> ready;
      std::vector<Timed> timed;
      {
        MutexLock lock(mu_);
        ready.swap(ready_);
        timed.swap(timed_);
      }
      if (ready.empty() && timed.empty()) return;
    }
  }

  // Moves tasks whose time has come to the ready queue.
  void CollectDueLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (timed_.empty()) return;
    const SteadyTime now = Clock::Real().Now();
    while (!timed_.empty() && timed_.front().when <= now) {
      std::pop_heap(timed_.begin(), timed_.end(), Later);
      ready_.push_back(std::move(timed_.back().task));
      timed_.pop_back();
    }
  }

  void Run() {
    MutexLock lock(mu_);
    while (!stopping_) {
      CollectDueLocked();
      if (ready_.empty()) {
        wake_.WaitUntil(mu_,
                        timed_.empty() ? kNoDeadline : timed_.front().when);
        continue;
      }
      Task task = std::move(ready_.front());
      ready_.pop_front();
      if (!ready_.empty()) wake_.NotifyOne();
      lock.Unlock();
      task();
      task = nullptr;
      lock.Lock();
    }
  }

  Mutex mu_;
  CondVar wake_;
  std::deque<Task> ready_ ABSL_GUARDED_BY(mu_);
  std::vector<Timed> timed_ ABSL_GUARDED_BY(mu_);  // a heap, earliest first
  uint64_t next_sequence_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Executor> Executor::Create(int num_threads) {
  return std::make_unique<ThreadPool>(num_threads);
}

Executor& Executor::Default() {
  static Executor* const executor = new ThreadPool(2);
  return *executor;
}

}  // namespace reverb
