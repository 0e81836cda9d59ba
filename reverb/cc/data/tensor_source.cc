// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/tensor_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/codec/delta.h"
#include "reverb/cc/codec/snappy_block.h"
#include "reverb/cc/codec/string_content.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/buffer.h"
#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {
namespace {

// TensorFlow's limit, and far above NumPy's.
constexpr size_t kMaxRank = 254;
// What a string takes besides its bytes, at least.
constexpr int64_t kStringOverhead = 24;

absl::Status TooLarge(absl::string_view what, uint64_t bytes, int64_t limit) {
  ErrorInfo info;
  info.limit = absl::StrCat(limit);
  info.actual = absl::StrCat(bytes);
  return WithErrorInfo(
      absl::ResourceExhaustedError(absl::StrCat(
          what, " of ", bytes, " bytes: the limit is ", limit, " bytes")),
      info);
}

}  // namespace

absl::Status TensorSource::Check(int64_t max_bytes) {
  if (!DTypeFromWire(static_cast<int64_t>(tensor_->dtype))) {
    return absl::InvalidArgumentError("the tensor's dtype is invalid");
  }
  if (tensor_->dims.empty() || tensor_->dims.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("the tensor's rank is ", tensor_->dims.size(),
                     ": it must be 1 to ", kMaxRank));
  }
  // The product counts even where a dimension is zero: no such array can be
  // handed out if it overflows.
  const int64_t element_size =
      is_string() ? kStringOverhead
                  : static_cast<int64_t>(ElementSize(tensor_->dtype));
  Dims all = tensor_->dims;
  all.push_back(element_size);
  const std::optional<int64_t> bytes = NumElements(all);
  if (!bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the tensor's shape is impossible: ", ShapeString(tensor_->dims)));
  }
  if (*bytes > max_bytes) return TooLarge("a tensor", *bytes, max_bytes);
  // A factor of what didn't overflow doesn't either.
  row_elements_ = *NumElements(row_dims());
  if (!is_string()) {
    row_bytes_ = static_cast<size_t>(row_elements_ * element_size);
    raw_bytes_ = static_cast<size_t>(*bytes);
  }
  return CheckContent(*bytes / element_size, max_bytes);
}

absl::Status TensorSource::CheckContent(int64_t elements,
                                        int64_t max_bytes) const {
  const absl::string_view content = tensor_->content;
  if (is_string()) {
    const size_t values = tensor_->string_values.size();
    if (!content.empty()) {
      if (static_cast<int64_t>(content.size()) > max_bytes) {
        return TooLarge("a tensor", content.size(), max_bytes);
      }
    } else if (values != static_cast<uint64_t>(elements)) {
      return absl::DataLossError(absl::StrCat(
          "the tensor has ", values, " strings where ", elements, " belong"));
    }
    return absl::OkStatus();
  }
  if (content.empty()) {
    if (elements == 0) return absl::OkStatus();
    return absl::DataLossError("the tensor has no content");
  }
  REVERB_ASSIGN_OR_RETURN(const size_t raw_bytes, SnappyRawSize(content));
  if (raw_bytes != raw_bytes_) {
    return absl::DataLossError(absl::StrCat("the tensor's content has ",
                                            raw_bytes, " bytes where ",
                                            raw_bytes_, " belong"));
  }
  if (raw_bytes == 0) return SnappyUncompress(content, {});
  return absl::OkStatus();
}

absl::Status TensorSource::DecodeTo(char* out) const {
  const absl::Span<char> raw(out, raw_bytes_);
  REVERB_RETURN_IF_ERROR(SnappyUncompress(tensor_->content, raw));
  if (delta_encoded_ &&
      DeltaApplies(tensor_->dtype, static_cast<int>(tensor_->dims.size()))) {
    DeltaDecode(tensor_->dtype, rows(), raw);
  }
  return absl::OkStatus();
}

absl::Status TensorSource::CopyRows(int64_t offset, int64_t length, char* out,
                                    int64_t max_scratch_bytes) {
  const size_t size = static_cast<size_t>(length) * row_bytes_;
  if (size == 0) return absl::OkStatus();
  if (raw_ == nullptr && size == raw_bytes_) {
    REVERB_RETURN_IF_ERROR(DecodeTo(out));
    raw_ = out;
    return absl::OkStatus();
  }
  if (raw_ == nullptr && !delta_encoded_) {
    // Rows that were stored as they are need not be decoded to be copied.
    if (const auto literal = SnappyLiteral(tensor_->content)) {
      raw_ = literal->data();
    }
  }
  if (raw_ == nullptr) {
    if (static_cast<int64_t>(raw_bytes_) > max_scratch_bytes) {
      return TooLarge("decoding a tensor", raw_bytes_, max_scratch_bytes);
    }
    REVERB_ASSIGN_OR_RETURN(Buffer scratch, Buffer::Allocate(raw_bytes_));
    REVERB_RETURN_IF_ERROR(DecodeTo(scratch.data()));
    scratch_ = std::move(scratch);
    raw_ = scratch_.data();
  }
  std::copy_n(raw_ + static_cast<size_t>(offset) * row_bytes_, size, out);
  return absl::OkStatus();
}

void TensorSource::DropScratch() {
  if (raw_ == scratch_.data()) raw_ = nullptr;
  scratch_ = Buffer();
}

absl::StatusOr<absl::Span<const absl::string_view>> TensorSource::Strings() {
  if (tensor_->content.empty()) return tensor_->string_values;
  if (!strings_decoded_) {
    REVERB_ASSIGN_OR_RETURN(
        strings_, DecodeStrings(rows() * row_elements_, tensor_->content));
    strings_decoded_ = true;
  }
  return absl::MakeConstSpan(strings_);
}

}  // namespace reverb
