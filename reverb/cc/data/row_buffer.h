// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Cells of one column, appended row by row into one growing buffer.
//
// One memcpy per cell and no allocation per cell. The first cell fixes dtype
// and shape for the buffer's life.
//
// Threads: one thread.

#ifndef REVERB_CC_DATA_ROW_BUFFER_H_
#define REVERB_CC_DATA_ROW_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

// The largest a cell, and so a chunk of one row, may be: what a protobuf
// message can hold, with room for its header.
inline constexpr size_t kMaxCellBytes = (size_t{1} << 31) - (64 << 10);

class RowBuffer {
 public:
  // Whether `cell` can be the next row: it has the dtype and shape of the rows
  // before (anything fits a buffer that was never used), else InvalidArgument
  // says what was expected; and the rows together stay within `kMaxCellBytes`,
  // else ResourceExhausted.
  absl::Status Check(const TensorView& cell) const;
  // Requires Check(cell).ok().
  void Append(const TensorView& cell);

  int64_t num_rows() const { return num_rows_; }
  size_t raw_bytes() const;  // of the rows held
  DType dtype() const { return dtype_; }
  const Dims& cell_dims() const { return cell_dims_; }

  // Rows as an owned tensor `[length, *cell]`, for readers of history. Requires
  // that they exist. ResourceExhausted if there is no memory for it.
  absl::StatusOr<Tensor> Rows(int64_t offset, int64_t length) const;

  // Encodes the rows as one tensor `[num_rows, *cell]`; they stay.
  EncodedTensor Encode(bool delta) const;
  // Forgets the rows but not dtype, shape or (unless it is a lot) memory.
  void Clear();

 private:
  absl::Status CheckFirst(const TensorView& cell) const;
  absl::Status CheckRoom(size_t cell_bytes) const;

  bool used_ = false;
  DType dtype_ = DType::kInvalid;
  Dims cell_dims_;
  size_t cell_elements_ = 0;
  size_t cell_bytes_ = 0;  // numeric
  int64_t num_rows_ = 0;
  std::string data_;  // the rows; of strings the bytes one after the other
  std::vector<size_t> string_ends_;  // kString: where in `data_` each one ends
};

}  // namespace reverb

#endif  // REVERB_CC_DATA_ROW_BUFFER_H_
