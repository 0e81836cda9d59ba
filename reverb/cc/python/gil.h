// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Leaving and taking Python's global lock around engine calls.
//
// Explicit save and restore, no RAII guard: a thread that wants the GIL while
// the interpreter shuts down is ended by the interpreter, which in a destructor
// ends the process.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_GIL_H_
#define REVERB_CC_PYTHON_GIL_H_

#include <pybind11/pybind11.h>

#include <optional>
#include <utility>

#include "reverb/cc/client/wait.h"
#include "reverb/cc/support/clock.h"

namespace reverb::python {

// Takes the GIL for a thread that gave it up as `state`. Doesn't return if the
// interpreter is gone: such a thread (a daemon's) sleeps until the process
// ends, so that no destructor touches Python objects without the GIL.
void TakeGil(PyThreadState* state);

// Runs `fn` without the GIL and returns its value. `fn` must not touch a
// Python object and must not throw.
template <typename Fn>
auto WithoutGil(Fn&& fn) {
  PyThreadState* state = PyEval_SaveThread();
  auto result = std::forward<Fn>(fn)();
  TakeGil(state);
  return result;
}

// Looks for signals while a call waits without the GIL; on the main thread
// alone, since Python handles signals nowhere else.
class SignalPoll {
 public:
  explicit SignalPoll(PyThreadState* state) : state_(state) {}
  // True once a handler has raised, e.g. KeyboardInterrupt; the exception then
  // stays set for the thread.
  bool operator()();

  // Whether the calling thread is the one that handles signals.
  static bool OnMainThread();

 private:
  PyThreadState* state_;
  bool raised_ = false;
};

// As `WithoutGil`, for calls that may wait: `fn(const WaitOptions&)` is ended
// by Ctrl-C, and the exception of the signal handler is thrown.
template <typename Fn>
auto WaitWithoutGil(SteadyTime deadline, Fn&& fn) {
  PyThreadState* state = PyEval_SaveThread();
  WaitOptions wait;
  wait.deadline = deadline;
  if (SignalPoll::OnMainThread()) wait.interrupted = SignalPoll(state);
  auto result = std::forward<Fn>(fn)(std::as_const(wait));
  TakeGil(state);
  if (PyErr_Occurred()) throw pybind11::error_already_set();
  return result;
}

template <typename Fn>
auto WaitWithoutGil(Fn&& fn) {
  return WaitWithoutGil(kNoDeadline, std::forward<Fn>(fn));
}

// The point `seconds` from now; none: never.
SteadyTime DeadlineIn(std::optional<double> seconds);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_GIL_H_
