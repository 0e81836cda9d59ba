// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/environments.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/python/nest.h"
#include "reverb/cc/python/status.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/tensor/dtype.h"

namespace reverb::python {

absl::Span<const bool> ReadFlags(pybind11::handle flags, Columns& columns) {
  if (flags.is_none()) return {};
  Flattener flattener;
  columns.Fill(pybind11::module_::import("numpy").attr("asarray")(flags),
               flattener);
  const TensorView& view = columns.views()[0];
  if (view.dtype != DType::kBool || view.dims.size() != 1) {
    Unwrap(absl::InvalidArgumentError(absl::StrCat(
               "episode_ends must be bools of shape (environments,), got ",
               DTypeName(view.dtype), " ", ShapeString(view.dims))),
           Also::kTypeError);
  }
  static_assert(sizeof(bool) == 1);
  return absl::MakeConstSpan(reinterpret_cast<const bool*>(view.data.data()),
                             view.data.size());
}

absl::StatusOr<int64_t> NumEnvironments(int64_t known,
                                        absl::Span<const TensorView> batch,
                                        absl::Span<const bool> ends) {
  int64_t count = known;
  for (const TensorView& column : batch) {
    if (count == 0 && !column.dims.empty()) count = column.dims[0];
  }
  const auto num_ends = static_cast<int64_t>(ends.size());
  if (count == 0) count = num_ends;
  if (ends.empty() || num_ends == count) return count;
  return WithErrorInfo(
      absl::InvalidArgumentError(absl::StrCat("episode_ends has ", num_ends,
                                              " flags, the batch has ", count,
                                              " environments")),
      {.limit = absl::StrCat(count), .actual = absl::StrCat(num_ends)});
}

}  // namespace reverb::python
