// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Differences along time, so that slowly changing integers compress better.
//
// Rows are the first dimension: out[0] = in[0], out[i] = in[i] - in[i-1],
// modulo 2^bits. Lossless. Applies to the eight integer types and to tensors
// of rank 2 and up; callers ask `DeltaApplies` first.

#ifndef REVERB_CC_CODEC_DELTA_H_
#define REVERB_CC_CODEC_DELTA_H_

#include <cstdint>

#include "absl/types/span.h"

#include "reverb/cc/tensor/dtype.h"

namespace reverb {

// `rank` includes the row dimension.
bool DeltaApplies(DType dtype, int rank);

// In place. data.size() is a multiple of `rows`; rows >= 1.
void DeltaEncode(DType dtype, int64_t rows, absl::Span<char> data);
void DeltaDecode(DType dtype, int64_t rows, absl::Span<char> data);

}  // namespace reverb

#endif  // REVERB_CC_CODEC_DELTA_H_
