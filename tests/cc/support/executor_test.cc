// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/executor.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

class Event {
 public:
  void Set() {
    MutexLock lock(mu_);
    set_ = true;
    cv_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mu_);
    while (!set_) cv_.Wait(mu_);
  }

 private:
  Mutex mu_;
  CondVar cv_;
  bool set_ ABSL_GUARDED_BY(mu_) = false;
};

TEST(Executor, RunsTasksOfOneThreadInOrderAndElsewhere) {
  const auto executor = Executor::Create(1);
  const std::thread::id here = std::this_thread::get_id();
  std::vector<int> order;
  Event done;
  for (int i = 0; i < 100; ++i) {
    executor->Post([&order, here, i] {
      EXPECT_NE(std::this_thread::get_id(), here);
      order.push_back(i);
    });
  }
  executor->Post([&done] { done.Set(); });
  done.Wait();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(Executor, TasksRunConcurrently) {
  const auto executor = Executor::Create(2);
  Event first, second;
  executor->Post([&] {
    first.Set();
    second.Wait();
  });
  executor->Post([&] {
    first.Wait();
    second.Set();
  });
  second.Wait();
}

TEST(Executor, TimedTasksRunAtTheirTimeAndInItsOrder) {
  const auto executor = Executor::Create(1);
  const SteadyTime now = Clock::Real().Now();
  const SteadyTime later = now + std::chrono::milliseconds(20);
  std::vector<int> order;
  Event done;
  executor->PostAt(later + std::chrono::milliseconds(1), [&] {
    order.push_back(3);
    done.Set();
  });
  executor->PostAt(later, [&, later] {
    EXPECT_GE(Clock::Real().Now(), later);
    order.push_back(1);
  });
  executor->PostAt(later, [&] { order.push_back(2); });
  executor->PostAt(now - std::chrono::hours(1), [&] { order.push_back(0); });
  done.Wait();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST(Executor, AnEarlierTaskOvertakesAWait) {
  const auto executor = Executor::Create(1);
  executor->PostAt(Clock::Real().Now() + std::chrono::hours(1),
                   [] { FAIL() << "an hour early"; });
  Event done;
  executor->PostAt(Clock::Real().Now() + std::chrono::milliseconds(1),
                   [&] { done.Set(); });
  done.Wait();
}

TEST(Executor, DestructionDropsWhatHasNotBegun) {
  auto dropped = std::make_shared<int>(0);
  auto executor = Executor::Create(2);
  executor->PostAt(Clock::Real().Now() + std::chrono::hours(1),
                   [dropped] { ++*dropped; });
  executor->PostAt(kNoDeadline, [dropped] { ++*dropped; });
  executor.reset();
  EXPECT_EQ(*dropped, 0);
  EXPECT_EQ(dropped.use_count(), 1);
}

// Posts once more when it goes.
struct Reposting {
  explicit Reposting(Executor* executor) : executor(executor) {}
  ~Reposting() {
    executor->Post([] { FAIL() << "after the end"; });
  }
  Executor* executor;
};

TEST(Executor, DroppedTasksMayPost) {
  auto executor = Executor::Create(1);
  auto reposting = std::make_shared<Reposting>(executor.get());
  executor->PostAt(Clock::Real().Now() + std::chrono::hours(1), [reposting] {});
  reposting.reset();
  executor.reset();
}

TEST(Executor, ManyThreadsMayPost) {
  const auto executor = Executor::Create(2);
  std::atomic<int> left{4000};
  Event done;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) {
        executor->Post([&] {
          if (left.fetch_sub(1) == 1) done.Set();
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done.Wait();
}

TEST(Executor, TheDefaultOneIsAlwaysThere) {
  Event done;
  Executor::Default().Post([&] { done.Set(); });
  done.Wait();
  EXPECT_EQ(&Executor::Default(), &Executor::Default());
}

}  // namespace
}  // namespace reverb
