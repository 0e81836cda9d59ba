// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/rows.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/support/error_info.h"

namespace reverb {

absl::Status CheckBatch(absl::Span<const int> columns,
                        absl::Span<const TensorView> batch, int64_t num_rows) {
  for (size_t i = 0; i < batch.size(); ++i) {
    const Dims& dims = batch[i].dims;
    if (!dims.empty() && dims[0] == num_rows) continue;
    const std::string column = absl::StrCat(columns[i]);
    const std::string shape = ShapeString(dims);
    return WithErrorInfo(
        absl::InvalidArgumentError(
            absl::StrCat("column ", column, " of a batch has shape ", shape,
                         "; its first dimension must be ", num_rows,
                         ", one row per environment")),
        {.column = column, .limit = absl::StrCat(num_rows), .actual = shape});
  }
  return absl::OkStatus();
}

void RowOf(absl::Span<const TensorView> batch, int64_t row,
           std::vector<TensorView>& cells) {
  cells.resize(batch.size());
  for (size_t i = 0; i < batch.size(); ++i) {
    const TensorView& column = batch[i];
    TensorView& cell = cells[i];
    const auto num_rows = static_cast<size_t>(column.dims[0]);
    const size_t bytes = column.data.size() / num_rows;
    const size_t strings = column.strings.size() / num_rows;
    cell.dtype = column.dtype;
    cell.dims.assign(column.dims.begin() + 1, column.dims.end());
    cell.data = column.data.substr(row * bytes, bytes);
    cell.strings = column.strings.subspan(row * strings, strings);
  }
}

}  // namespace reverb
