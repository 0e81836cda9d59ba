// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Element types, numbered as on the wire (tensorflow.DataType).

#ifndef REVERB_CC_TENSOR_DTYPE_H_
#define REVERB_CC_TENSOR_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace reverb {

enum class DType : uint8_t {
  kInvalid = 0,
  kFloat32 = 1,
  kFloat64 = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kFloat16 = 19,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
  kInt4 = 29,   // one byte per element
  kUint4 = 30,  // one byte per element
};

// The type of wire number `number`; nothing for those that hold no values
// (invalid, resource, variant) and those we don't know.
std::optional<DType> DTypeFromWire(int64_t number);

// Bytes per element; 0 for strings.
size_t ElementSize(DType dtype);

// NumPy's name ("float32", "bfloat16", "string").
absl::string_view DTypeName(DType dtype);

// Whether delta encoding applies to the type: the eight plain integers.
bool IsDeltaType(DType dtype);

}  // namespace reverb

#endif  // REVERB_CC_TENSOR_DTYPE_H_
