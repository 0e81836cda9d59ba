// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Batches of steps: columns `[N, ...]` of which row i is the step of
// environment i.
//
// Threads: thread-safe (pure functions).

#ifndef REVERB_CC_CLIENT_ROWS_H_
#define REVERB_CC_CLIENT_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/tensor/tensor.h"

namespace reverb {

// InvalidArgument if one of `batch` is not `[num_rows, ...]`; it names the
// column by its number in `columns`, which is parallel to `batch`.
absl::Status CheckBatch(absl::Span<const int> columns,
                        absl::Span<const TensorView> batch, int64_t num_rows);

// Makes `cells` the views of row `row` of each of `batch`, whose memory they
// borrow. Requires that `CheckBatch` has passed and 0 <= row < num_rows.
void RowOf(absl::Span<const TensorView> batch, int64_t row,
           std::vector<TensorView>& cells);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_ROWS_H_
