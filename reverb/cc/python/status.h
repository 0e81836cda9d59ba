// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Statuses as Python exceptions: the classes of `reverb.errors`.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_STATUS_H_
#define REVERB_CC_PYTHON_STATUS_H_

#include <pybind11/pybind11.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reverb::python {

// The builtin class that an exception shall have besides its own, for calls in
// which 0.14 raises that one whatever the code.
enum class Also { kNothing, kValueError, kRuntimeError, kTypeError };

// The exception object for an error; its text is the message alone, what the
// status carries as ErrorInfo becomes attributes.
pybind11::object MakeException(const absl::Status& status,
                               Also also = Also::kNothing);

// Throws `exception`.
[[noreturn]] void ThrowException(const pybind11::object& exception);

// Throws if `status` is an error.
inline void Unwrap(const absl::Status& status, Also also = Also::kNothing) {
  if (!status.ok()) ThrowException(MakeException(status, also));
}

template <typename T>
T Unwrap(absl::StatusOr<T> result, Also also = Also::kNothing) {
  Unwrap(result.status(), also);
  return *std::move(result);
}

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_STATUS_H_
