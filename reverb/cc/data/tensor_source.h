// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// One encoded tensor of a chunk, checked, and its rows once they are decoded.
//
// A part of `DecodeSample`: nothing about a tensor is believed before
// `Check` has passed, and nothing is allocated for it before either.
//
// Errors: DataLoss for bytes that aren't what their header says,
// InvalidArgument for headers that make no sense, ResourceExhausted beyond
// the limits. Threads: one thread.

#ifndef REVERB_CC_DATA_TENSOR_SOURCE_H_
#define REVERB_CC_DATA_TENSOR_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/tensor/buffer.h"

namespace reverb {

class TensorSource {
 public:
  // Borrows `tensor`.
  TensorSource(const EncodedTensorView* tensor, bool delta_encoded)
      : tensor_(tensor), delta_encoded_(delta_encoded) {}

  // Checks the header, and the content as far as that needs no memory. Comes
  // before everything below.
  absl::Status Check(int64_t max_bytes);

  const EncodedTensorView* tensor() const { return tensor_; }
  bool is_string() const { return tensor_->dtype == DType::kString; }
  int64_t rows() const { return tensor_->dims[0]; }
  // Shape, number of elements and, of numeric ones, bytes of a row.
  absl::Span<const int64_t> row_dims() const {
    return absl::MakeConstSpan(tensor_->dims).subspan(1);
  }
  int64_t row_elements() const { return row_elements_; }
  size_t row_bytes() const { return row_bytes_; }

  // Copies numeric rows `[offset, offset + length)`, which exist, to `out`.
  // All rows are decoded straight into `out`, which must then outlive the
  // source; for some of them all are decoded once, into memory of the source
  // if `max_scratch_bytes` has room.
  absl::Status CopyRows(int64_t offset, int64_t length, char* out,
                        int64_t max_scratch_bytes);
  // Memory that `CopyRows` holds on to, and its end.
  size_t scratch_bytes() const { return scratch_.size(); }
  void DropScratch();

  // The strings of all rows; borrowed from the chunk.
  absl::StatusOr<absl::Span<const absl::string_view>> Strings();

  // How many slices still need the rows.
  int64_t uses_left = 0;

 private:
  absl::Status CheckContent(int64_t elements, int64_t max_bytes) const;
  absl::Status DecodeTo(char* out) const;

  const EncodedTensorView* tensor_;
  bool delta_encoded_;
  int64_t row_elements_ = 0;
  size_t row_bytes_ = 0;
  size_t raw_bytes_ = 0;

  const char* raw_ = nullptr;  // the decoded rows, wherever they are
  Buffer scratch_;
  bool strings_decoded_ = false;
  std::vector<absl::string_view> strings_;
};

}  // namespace reverb

#endif  // REVERB_CC_DATA_TENSOR_SOURCE_H_
