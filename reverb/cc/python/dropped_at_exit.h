// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Writers that send what they have pending when they are dropped, and so must
// be dropped before the interpreter is taken apart.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_DROPPED_AT_EXIT_H_
#define REVERB_CC_PYTHON_DROPPED_AT_EXIT_H_

namespace reverb::python {

class DroppedAtExit {
 public:
  DroppedAtExit();
  virtual ~DroppedAtExit();
  DroppedAtExit(const DroppedAtExit&) = delete;
  DroppedAtExit& operator=(const DroppedAtExit&) = delete;

  // Drops all of them but those that a thread is using.
  static void DropAll();

 protected:
  // While a thread is in a call.
  bool busy_ = false;

 private:
  // Lets go of the writer; may leave the GIL.
  virtual void Drop() = 0;
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_DROPPED_AT_EXIT_H_
