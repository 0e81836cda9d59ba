// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// From chunk slices to the arrays that users get: `[T, ...]` per column.
//
// Each payload byte is touched once: a slice that is its whole tensor is
// decompressed straight into the result. Everything a reader could be
// deceived or crashed by is checked: ranks, sizes, products, bounds, and that
// slices of a column agree.
//
// Errors: InvalidArgument or DataLoss that names the column (its number);
// ResourceExhausted beyond `DecodeLimits`.
// Threads: thread-compatible.

#ifndef REVERB_CC_DATA_DECODE_H_
#define REVERB_CC_DATA_DECODE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

struct DecodeLimits {
  int64_t max_chunk_bytes = int64_t{4} << 30;    // one tensor, uncompressed
  int64_t max_sample_bytes = int64_t{16} << 30;  // all columns of a sample
};

struct SliceView {
  const ChunkView* chunk = nullptr;
  int32_t offset = 0;
  int32_t length = 0;
  int32_t index = 0;
};

struct ColumnView {
  std::vector<SliceView> slices;
  bool squeeze = false;
};

// Decodes all columns of one sample. A tensor that several slices use is
// decompressed once.
absl::StatusOr<std::vector<Tensor>> DecodeSample(
    absl::Span<const ColumnView> columns, const DecodeLimits& limits = {});

}  // namespace reverb

#endif  // REVERB_CC_DATA_DECODE_H_
