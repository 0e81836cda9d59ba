// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace reverb {
namespace {

struct Traits {
  absl::string_view name;    // empty: no such type
  uint8_t element_size = 0;  // bytes
  bool delta = false;
};

constexpr int kNumTypes = 31;

// Indexed by wire number; the gaps are types that hold no values.
constexpr Traits kTraits[kNumTypes] = {
    {},
    {"float32", 4},
    {"float64", 8},
    {"int32", 4, true},
    {"uint8", 1, true},
    {"int16", 2, true},
    {"int8", 1, true},
    {"string", 0},
    {"complex64", 8},
    {"int64", 8, true},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"bfloat16", 2},
    {"qint16", 2},
    {"quint16", 2},
    {"uint16", 2, true},
    {"complex128", 16},
    {"float16", 2},
    {},  // resource
    {},  // variant
    {"uint32", 4, true},
    {"uint64", 8, true},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {},
    {},
    {},
    {"int4", 1},
    {"uint4", 1},
};

const Traits& TraitsOf(DType dtype) {
  const auto number = static_cast<size_t>(dtype);
  return kTraits[number < kNumTypes ? number : 0];
}

}  // namespace

std::optional<DType> DTypeFromWire(int64_t number) {
  if (number < 0 || number >= kNumTypes || kTraits[number].name.empty()) {
    return std::nullopt;
  }
  return static_cast<DType>(number);
}

size_t ElementSize(DType dtype) { return TraitsOf(dtype).element_size; }

absl::string_view DTypeName(DType dtype) {
  const absl::string_view name = TraitsOf(dtype).name;
  return name.empty() ? "invalid" : name;
}

bool IsDeltaType(DType dtype) { return TraitsOf(dtype).delta; }

}  // namespace reverb
