// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/row_buffer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/codec/string_content.h"
#include "reverb/cc/data/encode_rows.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/buffer.h"
#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {
namespace {

// Memory that an emptied buffer may keep.
constexpr size_t kMaxIdleBytes = size_t{64} << 20;

std::string Describe(DType dtype, absl::Span<const int64_t> dims) {
  return absl::StrCat(DTypeName(dtype), " ", ShapeString(dims));
}

}  // namespace

absl::Status RowBuffer::CheckRoom(size_t cell_bytes) const {
  const size_t total = raw_bytes() + cell_bytes;
  if (total <= kMaxCellBytes) return absl::OkStatus();
  ErrorInfo info;
  info.limit = absl::StrCat(kMaxCellBytes);
  info.actual = absl::StrCat(total);
  return WithErrorInfo(
      absl::ResourceExhaustedError(absl::StrCat(
          num_rows_ == 0 ? "a cell" : "the cells of a chunk", " of ", total,
          " bytes: the limit is ", kMaxCellBytes, " bytes")),
      info);
}

absl::Status RowBuffer::CheckFirst(const TensorView& cell) const {
  const bool is_string = cell.dtype == DType::kString;
  if (!DTypeFromWire(static_cast<int64_t>(cell.dtype))) {
    return absl::InvalidArgumentError("a cell must have a dtype");
  }
  const std::optional<int64_t> elements = NumElements(cell.dims);
  if (!elements) {
    return absl::InvalidArgumentError(absl::StrCat(
        "impossible shape of a cell: ", Describe(cell.dtype, cell.dims)));
  }
  // Compared by division: the product may not fit.
  const size_t size = is_string ? cell.strings.size()
                                : cell.data.size() / ElementSize(cell.dtype);
  if (size != static_cast<uint64_t>(*elements) ||
      (!is_string && cell.data.size() % ElementSize(cell.dtype) != 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a cell ", Describe(cell.dtype, cell.dims), " comes with ",
                     is_string ? cell.strings.size() : cell.data.size(),
                     is_string ? " strings" : " bytes"));
  }
  return CheckRoom(RawSize(cell));
}

absl::Status RowBuffer::Check(const TensorView& cell) const {
  if (!used_) return CheckFirst(cell);
  if (cell.dtype != dtype_ || cell.dims != cell_dims_) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected ", Describe(dtype_, cell_dims_), ", got ",
                     Describe(cell.dtype, cell.dims)));
  }
  if (dtype_ == DType::kString ? cell.strings.size() != cell_elements_
                               : cell.data.size() != cell_bytes_) {
    return CheckFirst(cell);  // Says what is wrong.
  }
  return CheckRoom(RawSize(cell));
}

void RowBuffer::Append(const TensorView& cell) {
  if (!used_) {
    used_ = true;
    dtype_ = cell.dtype;
    cell_dims_ = cell.dims;
    cell_bytes_ = cell.data.size();
    cell_elements_ = dtype_ == DType::kString
                         ? cell.strings.size()
                         : cell_bytes_ / ElementSize(dtype_);
  }
  if (dtype_ == DType::kString) {
    for (const absl::string_view text : cell.strings) {
      data_.append(text.data(), text.size());
      string_ends_.push_back(data_.size());
    }
  } else {
    data_.append(cell.data.data(), cell.data.size());
  }
  ++num_rows_;
}

size_t RowBuffer::raw_bytes() const {
  return data_.size() + string_ends_.size() * kStringOverhead;
}

absl::StatusOr<Tensor> RowBuffer::Rows(int64_t offset, int64_t length) const {
  Tensor tensor;
  tensor.dtype = dtype_;
  tensor.dims.push_back(length);
  tensor.dims.insert(tensor.dims.end(), cell_dims_.begin(), cell_dims_.end());
  const auto first = static_cast<size_t>(offset);
  const auto count = static_cast<size_t>(length);
  if (dtype_ == DType::kString) {
    tensor.strings.reserve(count * cell_elements_);
    for (size_t at = first * cell_elements_;
         at < (first + count) * cell_elements_; ++at) {
      const size_t begin = at == 0 ? 0 : string_ends_[at - 1];
      tensor.strings.push_back(data_.substr(begin, string_ends_[at] - begin));
    }
    return tensor;
  }
  REVERB_ASSIGN_OR_RETURN(tensor.data, Buffer::Allocate(count * cell_bytes_));
  data_.copy(tensor.data.data(), count * cell_bytes_, first * cell_bytes_);
  return tensor;
}

EncodedTensor RowBuffer::Encode(bool delta) const {
  Dims dims;
  dims.reserve(cell_dims_.size() + 1);
  dims.push_back(num_rows_);
  dims.insert(dims.end(), cell_dims_.begin(), cell_dims_.end());
  if (dtype_ != DType::kString) {
    return EncodeRows({.dtype = dtype_,
                       .dims = std::move(dims),
                       .data = data_,
                       .strings = {}},
                      delta);
  }
  EncodedTensor tensor;
  tensor.dtype = dtype_;
  tensor.dims = std::move(dims);
  tensor.raw_bytes = static_cast<int64_t>(raw_bytes());
  tensor.content.reserve(data_.size() + 2 * string_ends_.size());
  size_t begin = 0;
  for (const size_t end : string_ends_) {
    AppendStringLength(end - begin, tensor.content);
    begin = end;
  }
  tensor.content += data_;
  return tensor;
}

void RowBuffer::Clear() {
  num_rows_ = 0;
  data_.clear();
  string_ends_.clear();
  if (data_.capacity() > kMaxIdleBytes) data_.shrink_to_fit();
  if (string_ends_.capacity() > kMaxIdleBytes / sizeof(size_t)) {
    string_ends_.shrink_to_fit();
  }
}

}  // namespace reverb
