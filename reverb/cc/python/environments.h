// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What the writers that take batches of steps have in common.
//
// Threads: callers hold the GIL.

#ifndef REVERB_CC_PYTHON_ENVIRONMENTS_H_
#define REVERB_CC_PYTHON_ENVIRONMENTS_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/python/numpy_bridge.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb::python {

// Steps below this size are copied without leaving the GIL, and far below it
// compressed too: taking it back may cost a whole switch interval.
inline constexpr size_t kKeepGilBytes = size_t{64} << 10;

// The flags of `[N]` bools, borrowed from `columns`; none for None. TypeError
// for anything else.
absl::Span<const bool> ReadFlags(pybind11::handle flags, Columns& columns);

// How many environments a batch is for: `known`, unless that is 0. Writers
// check the batch against it. InvalidArgument if `ends` are others.
absl::StatusOr<int64_t> NumEnvironments(int64_t known,
                                        absl::Span<const TensorView> batch,
                                        absl::Span<const bool> ends);

}  // namespace reverb::python

#endif  // REVERB_CC_PYTHON_ENVIRONMENTS_H_
