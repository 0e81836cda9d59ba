// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a Python object holds of the engine, let go of safely.
//
// The engine's destructors may wait for threads, so they run without the GIL.
// In a forked child those threads don't exist: there the object is refused,
// and leaked rather than destroyed.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_OWNED_H_
#define REVERB_CC_PYTHON_OWNED_H_

#include <utility>

#include "reverb/cc/python/gil.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/support/fork_guard.h"

namespace reverb::python {

// `Pointer` is a std::unique_ptr or std::shared_ptr.
template <typename Pointer>
class Owned {
 public:
  explicit Owned(Pointer pointer) : pointer_(std::move(pointer)) {}
  Owned(Owned&& other) noexcept : pointer_(std::move(other.pointer_)) {}
  Owned& operator=(Owned&&) = delete;

  ~Owned() { Drop(); }

  // Requires that the object holds nothing.
  void Reset(Pointer pointer) { pointer_ = std::move(pointer); }

  // As the destructor; the object holds nothing afterwards.
  void Drop() {
    if (pointer_ == nullptr) return;
    // Moved out first: other threads may look while the GIL is free.
    Pointer pointer = std::move(pointer_);
    pointer_ = nullptr;
    if (InForkedChildOfGrpcUser()) {
      new Pointer(std::move(pointer));  // never destroyed
      return;
    }
    WithoutGil([&pointer] {
      pointer.reset();
      return true;
    });
  }

  // Throws FailedPrecondition in a forked child.
  const Pointer& get() const {
    Unwrap(CheckNotForked());
    return pointer_;
  }
  auto* operator->() const { return get().get(); }

 private:
  Pointer pointer_;
};

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_OWNED_H_
