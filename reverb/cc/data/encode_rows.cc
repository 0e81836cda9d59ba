// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/encode_rows.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/codec/delta.h"
#include "reverb/cc/codec/snappy_block.h"
#include "reverb/cc/codec/string_content.h"
#include "reverb/cc/tensor/dtype.h"

namespace reverb {

EncodedTensor EncodeRows(const TensorView& rows, bool delta) {
  EncodedTensor tensor;
  tensor.dtype = rows.dtype;
  tensor.dims = rows.dims;
  tensor.raw_bytes = static_cast<int64_t>(RawSize(rows));
  if (rows.dtype == DType::kString) {
    EncodeStrings(rows.strings, tensor.content);
  } else if (delta && rows.dims[0] > 1 &&
             DeltaApplies(rows.dtype, static_cast<int>(rows.dims.size()))) {
    std::string differences(rows.data);
    DeltaEncode(rows.dtype, rows.dims[0], absl::MakeSpan(differences));
    SnappyPack(differences, tensor.content);
  } else {
    SnappyPack(rows.data, tensor.content);
  }
  return tensor;
}

size_t RawSize(const TensorView& cells) {
  if (cells.dtype != DType::kString) return cells.data.size();
  size_t bytes = cells.strings.size() * kStringOverhead;
  for (const absl::string_view text : cells.strings) bytes += text.size();
  return bytes;
}

}  // namespace reverb
