// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a table promises about its data: one spec per flat column.
//
// The nesting itself stays in the serialized StructuredValue that a table
// keeps for its users; the engine and the writers need the flat specs alone.

#ifndef REVERB_CC_TENSOR_SIGNATURE_H_
#define REVERB_CC_TENSOR_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

struct TensorSpec {
  std::string name;  // path in the nest and the spec's own name: "obs/camera"
  DType dtype = DType::kInvalid;
  Dims dims;                  // -1: any size
  bool unknown_rank = false;  // any shape; `dims` is empty

  // Whether a value of exactly shape `shape` fits.
  bool Fits(absl::Span<const int64_t> shape) const;
  // Whether `[rows] + cell` fits.
  bool FitsRows(int64_t rows, absl::Span<const int64_t> cell) const;
  // "obs/camera: uint8 (84, 84, ?)".
  std::string ToString() const;
};

// In flat order: tuples and lists by index, dicts by sorted key.
using Signature = std::vector<TensorSpec>;

}  // namespace reverb

#endif  // REVERB_CC_TENSOR_SIGNATURE_H_
