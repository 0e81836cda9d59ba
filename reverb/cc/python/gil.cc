// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/gil.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "reverb/cc/support/clock.h"

namespace reverb::python {

void TakeGil(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    // The interpreter calls pthread_exit for threads that come too late, which
    // unwinds them (abi::__forced_unwind, a reference to no object). It stops
    // here for good; newer interpreters do the same.
    for (;;) pause();
  }
}

bool SignalPoll::operator()() {
  if (raised_) return true;
  TakeGil(state_);
  raised_ = PyErr_CheckSignals() != 0;
  state_ = PyEval_SaveThread();
  return raised_;
}

bool SignalPoll::OnMainThread() {
  // Python's main thread is the process's own (where Python is embedded in
  // another thread, signals are that program's business).
  return syscall(SYS_gettid) == getpid();
}

SteadyTime DeadlineIn(std::optional<double> seconds) {
  if (!seconds) return kNoDeadline;
  return DeadlineAfter(Clock::Real().Now(), *seconds);
}

}  // namespace reverb::python
