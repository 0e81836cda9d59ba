// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/tensor/signature.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/tensor/dtype.h"

namespace reverb {
namespace {

bool DimFits(int64_t want, int64_t have) {
  return want == have || (want < 0 && have >= 0);
}

bool DimsFit(absl::Span<const int64_t> want, absl::Span<const int64_t> have) {
  if (want.size() != have.size()) return false;
  for (size_t i = 0; i < want.size(); ++i) {
    if (!DimFits(want[i], have[i])) return false;
  }
  return true;
}

}  // namespace

bool TensorSpec::Fits(absl::Span<const int64_t> shape) const {
  return unknown_rank || DimsFit(dims, shape);
}

bool TensorSpec::FitsRows(int64_t rows, absl::Span<const int64_t> cell) const {
  if (unknown_rank) return true;
  return !dims.empty() && DimFits(dims[0], rows) &&
         DimsFit(absl::MakeConstSpan(dims).subspan(1), cell);
}

std::string TensorSpec::ToString() const {
  std::string text;
  if (!name.empty()) absl::StrAppend(&text, name, ": ");
  absl::StrAppend(&text, DTypeName(dtype), " ");
  if (unknown_rank) {
    text += "of any shape";
    return text;
  }
  text += '(';
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    if (dims[i] < 0) {
      text += '?';
    } else {
      absl::StrAppend(&text, dims[i]);
    }
  }
  text += dims.size() == 1 ? ",)" : ")";
  return text;
}

}  // namespace reverb
