// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/session_turn.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "reverb/cc/support/executor.h"

namespace reverb {
namespace {

// A scope hands on what is left after so many turns: its thread may be a
// user's, or one that gRPC needs.
constexpr size_t kMaxTurnsPerScope = 64;

thread_local TurnScope* current_scope = nullptr;

}  // namespace

void SessionTurn::Schedule() {
  int state = state_.load(std::memory_order_relaxed);
  while (true) {
    const int next = state == kIdle      ? kQueued
                     : state == kRunning ? kRunningAgain
                                         : state;
    // Written even where nothing changes: it orders what the caller did before
    // the turn that is to see it.
    if (!state_.compare_exchange_weak(state, next, std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) {
      continue;
    }
    if (state == kIdle) Enqueue();
    return;
  }
}

void SessionTurn::Enqueue() {
  if (current_scope != nullptr) {
    current_scope->turns_.push_back(shared_from_this());
    return;
  }
  Executor::Default().Post([turn = shared_from_this()] {
    TurnScope scope;
    turn->Run();
  });
}

void SessionTurn::Run() {
  state_.exchange(kRunning, std::memory_order_acq_rel);
  RunTurn();
  int state = kRunning;
  if (state_.compare_exchange_strong(state, kIdle, std::memory_order_acq_rel)) {
    return;
  }
  state_.store(kQueued, std::memory_order_release);
  Enqueue();
}

TurnScope::TurnScope() : outermost_(current_scope == nullptr) {
  if (outermost_) current_scope = this;
}

TurnScope::~TurnScope() {
  if (!outermost_) return;
  // Turns may schedule others, which join the end of the list.
  for (size_t i = 0; i < turns_.size(); ++i) {
    if (i == kMaxTurnsPerScope) {
      current_scope = nullptr;
      for (; i < turns_.size(); ++i) turns_[i]->Enqueue();
      return;
    }
    const std::shared_ptr<SessionTurn> turn = std::move(turns_[i]);
    turn->Run();
  }
  current_scope = nullptr;
}

}  // namespace reverb
