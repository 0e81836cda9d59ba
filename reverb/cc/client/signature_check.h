// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Whether data fits what a table promises, checked before it is sent.
//
// Threads: thread-safe (pure functions).

#ifndef REVERB_CC_CLIENT_SIGNATURE_CHECK_H_
#define REVERB_CC_CLIENT_SIGNATURE_CHECK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/tensor/signature.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

// One column of a step: dtype and shape of its cell.
struct CellSpec {
  DType dtype = DType::kInvalid;
  Dims dims;
  friend bool operator==(const CellSpec&, const CellSpec&) = default;
};

// A step of an item of `num_timesteps` steps against the table's signature:
// a column fits as a single step or with the steps prepended.
// InvalidArgument names the table and the column by its path.
absl::Status CheckStep(absl::string_view table, const Signature& signature,
                       absl::Span<const CellSpec> step, int64_t num_timesteps);

// The columns of an item, whole shapes, against the table's signature.
// InvalidArgument as above.
absl::Status CheckColumns(absl::string_view table, const Signature& signature,
                          absl::Span<const CellSpec> columns);

// InvalidArgument if `priority` is not a number.
absl::Status CheckPriorityIsNumber(absl::string_view table, double priority);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SIGNATURE_CHECK_H_
