// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Runs short tasks on a few threads, now or at a given time.
//
// Serves what has no thread of its own: table work beyond one lock hold,
// deadlines of waiting requests, sessions of in-process clients. Tasks must
// not block.
//
// Threads: thread-safe. Tasks of one executor run concurrently.

#ifndef REVERB_CC_SUPPORT_EXECUTOR_H_
#define REVERB_CC_SUPPORT_EXECUTOR_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "reverb/cc/support/clock.h"

namespace reverb {

class Executor {
 public:
  using Task = std::function<void()>;

  virtual ~Executor() = default;

  // Runs `task` soon, never on the calling thread before `Post` returned.
  virtual void Post(Task task) = 0;
  // Runs `task` at `when` or soon after. It can't be withdrawn: a task looks
  // for itself whether there is still something to do.
  virtual void PostAt(SteadyTime when, Task task) = 0;

  // Starts `num_threads` threads. The destructor drops tasks that have not
  // begun and waits for those that have.
  static std::unique_ptr<Executor> Create(int num_threads);
  // The process's own, started on first use, never destroyed.
  static Executor& Default();
};

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_EXECUTOR_H_
