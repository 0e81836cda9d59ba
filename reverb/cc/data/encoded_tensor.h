// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A tensor as it stands in a chunk: compressed content with its header.

#ifndef REVERB_CC_DATA_ENCODED_TENSOR_H_
#define REVERB_CC_DATA_ENCODED_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

// Owned, on its way into a chunk.
struct EncodedTensor {
  DType dtype = DType::kInvalid;
  Dims dims;              // [rows, ...]
  std::string content;    // snappy, or string content
  int64_t raw_bytes = 0;  // uncompressed size, as `data_uncompressed_size`
};

// Borrowed from a chunk's bytes.
struct EncodedTensorView {
  DType dtype = DType::kInvalid;
  Dims dims;
  absl::string_view content;
  // Strings in TensorProto.string_val, where `content` is empty (readable,
  // never written).
  std::vector<absl::string_view> string_values;
};

// What readers need of a chunk: its tensors, not yet decompressed.
struct ChunkView {
  ChunkKey key = 0;
  SequenceRange range;
  bool delta_encoded = false;
  absl::InlinedVector<EncodedTensorView, 1> tensors;
};

}  // namespace reverb

#endif  // REVERB_CC_DATA_ENCODED_TENSOR_H_
