// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Arrays: a borrowed view of one, and an owned one that is handed to users.
//
// Shapes: outermost dimension first, no strides; data is row-major and
// little-endian. Threads: thread-compatible.

#ifndef REVERB_CC_TENSOR_TENSOR_H_
#define REVERB_CC_TENSOR_TENSOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/tensor/buffer.h"
#include "reverb/cc/tensor/dtype.h"

namespace reverb {

using Dims = absl::InlinedVector<int64_t, 4>;

// Product of `dims`; nothing if one is negative or the product overflows.
std::optional<int64_t> NumElements(absl::Span<const int64_t> dims);

// "(3, 84, 84)", "()" for a scalar, "(3,)": as NumPy prints shapes.
std::string ShapeString(absl::Span<const int64_t> dims);

// Borrows: valid as long as what it was made from.
struct TensorView {
  DType dtype = DType::kInvalid;
  Dims dims;
  absl::string_view data;                       // numeric
  absl::Span<const absl::string_view> strings;  // kString, row-major
};

// Owns its data.
struct Tensor {
  DType dtype = DType::kInvalid;
  Dims dims;
  Buffer data;                       // numeric
  std::vector<std::string> strings;  // kString, row-major
};

}  // namespace reverb

#endif  // REVERB_CC_TENSOR_TENSOR_H_
