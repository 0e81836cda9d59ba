// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Rows that lie in memory one after the other, as a tensor of a chunk.
//
// Threads: thread-safe (pure functions).

#ifndef REVERB_CC_DATA_ENCODE_ROWS_H_
#define REVERB_CC_DATA_ENCODE_ROWS_H_

#include <cstddef>

#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

// What dm-reverb counts for a string besides its bytes.
inline constexpr size_t kStringOverhead = 24;

// `rows` is `[rows, ...]`; `delta`: whether its integers are stored as
// differences along the first dimension.
EncodedTensor EncodeRows(const TensorView& rows, bool delta);

// The size of `cells` before compression.
size_t RawSize(const TensorView& cells);

}  // namespace reverb

#endif  // REVERB_CC_DATA_ENCODE_ROWS_H_
