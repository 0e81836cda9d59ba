// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/session_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

class Counter final : public SessionTurn {
 public:
  explicit Counter(std::function<void()> body = [] {})
      : body_(std::move(body)) {}

  void AwaitTurns(int count) {
    MutexLock lock(mu_);
    while (num_turns_ < count) ran_.Wait(mu_);
  }
  int num_turns() {
    MutexLock lock(mu_);
    return num_turns_;
  }
  bool overlapped() const { return overlapped_; }

 private:
  void RunTurn() override {
    if (running_.exchange(true)) overlapped_ = true;
    body_();
    running_ = false;
    MutexLock lock(mu_);
    ++num_turns_;
    ran_.NotifyAll();
  }

  const std::function<void()> body_;
  std::atomic<bool> running_{false};
  std::atomic<bool> overlapped_{false};
  Mutex mu_;
  CondVar ran_;
  int num_turns_ ABSL_GUARDED_BY(mu_) = 0;
};

TEST(SessionTurn, RunsWhenTheOutermostScopeEnds) {
  const auto counter = std::make_shared<Counter>();
  {
    TurnScope outer;
    {
      TurnScope inner;
      counter->Schedule();
      counter->Schedule();
    }
    EXPECT_EQ(counter->num_turns(), 0);
  }
  EXPECT_EQ(counter->num_turns(), 1);
}

TEST(SessionTurn, RunsOnTheExecutorOutsideOfScopes) {
  const auto counter = std::make_shared<Counter>();
  counter->Schedule();
  counter->AwaitTurns(1);
}

TEST(SessionTurn, ATurnThatSchedulesAnotherIsNotNested) {
  Counter* self = nullptr;
  int left = 500;
  const auto counter = std::make_shared<Counter>([&] {
    if (--left > 0) self->Schedule();
  });
  self = counter.get();
  {
    TurnScope scope;
    counter->Schedule();
  }
  counter->AwaitTurns(500);
  EXPECT_FALSE(counter->overlapped());
}

TEST(SessionTurn, TurnsOfOneObjectNeverOverlap) {
  const auto counter = std::make_shared<Counter>();
  std::atomic<int> events{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 1000; ++n) {
        ++events;
        if (i % 2 == 0) {
          TurnScope scope;
          counter->Schedule();
        } else {
          counter->Schedule();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  counter->AwaitTurns(1);
  EXPECT_FALSE(counter->overlapped());
  EXPECT_LE(counter->num_turns(), events);
}

TEST(SessionTurn, AScheduledTurnKeepsItsObject) {
  std::atomic<bool> ran{false};
  {
    TurnScope scope;
    std::make_shared<Counter>([&] { ran = true; })->Schedule();
    EXPECT_FALSE(ran);
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace reverb
