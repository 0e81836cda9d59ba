// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a session's owner does when there is something to do, one turn at a
// time, and never inside the call that gave rise to it.
//
// Tables report to sessions in the middle of serving, where nobody may call
// them back. So a report only schedules a turn. Turns scheduled on a thread
// that is inside a `TurnScope` run there when the outermost scope ends, which
// saves the hand-over to another thread; others run on the executor.
//
// Threads: thread-safe.

#ifndef REVERB_CC_ENGINE_SESSION_TURN_H_
#define REVERB_CC_ENGINE_SESSION_TURN_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace reverb {

// Owned by std::shared_ptr: a scheduled turn keeps its object alive.
class SessionTurn : public std::enable_shared_from_this<SessionTurn> {
 public:
  virtual ~SessionTurn() = default;

  // Has `RunTurn` run once, wholly after this call began: soon, if a turn is
  // in progress, after it. Several calls may be answered by one turn.
  void Schedule();

 protected:
  // Never runs twice at the same time. Must not block.
  virtual void RunTurn() = 0;

 private:
  friend class TurnScope;
  enum State : int { kIdle, kQueued, kRunning, kRunningAgain };

  void Enqueue();
  void Run();

  std::atomic<int> state_{kIdle};
};

class TurnScope {
 public:
  TurnScope();
  // The outermost scope of the thread runs the turns collected: no lock may be
  // held here.
  ~TurnScope();
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;

 private:
  friend class SessionTurn;
  std::vector<std::shared_ptr<SessionTurn>> turns_;
  const bool outermost_;
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_SESSION_TURN_H_
