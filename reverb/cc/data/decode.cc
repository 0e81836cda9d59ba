// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/decode.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/data/tensor_source.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/buffer.h"
#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {
namespace {

// `status` said of column `column`, with what it carries.
absl::Status InColumn(size_t column, const absl::Status& status) {
  ErrorInfo info = GetErrorInfo(status).value_or(ErrorInfo());
  info.column = absl::StrCat(column);
  return WithErrorInfo(
      absl::Status(status.code(),
                   absl::StrCat("column ", column, ": ", status.message())),
      info);
}

std::string Describe(const TensorSource& source) {
  return absl::StrCat(DTypeName(source.tensor()->dtype), " ",
                      ShapeString(source.row_dims()));
}

// NumPy takes a bool for 0 or 1 and computes nonsense with any other byte.
void NormalizeBools(absl::Span<char> bytes) {
  constexpr uint64_t kNotBool = 0xfefefefefefefefe;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, sizeof(word));
    if ((word & kNotBool) != 0) break;
  }
  for (; i < bytes.size(); ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
}

// The tensors of one sample, each once, found by address.
class SourceSet {
 public:
  // The number of `tensor`'s source, and whether it is a new one.
  std::pair<size_t, bool> Add(const EncodedTensorView* tensor, bool delta) {
    if (sources_.size() < kMaxLinear) {
      // Neighbours mostly come from the same chunk.
      for (size_t i = sources_.size(); i > 0; --i) {
        if (sources_[i - 1].tensor() == tensor) return {i - 1, false};
      }
    } else {
      if (index_.empty()) {
        for (size_t i = 0; i < sources_.size(); ++i) {
          index_.emplace(sources_[i].tensor(), i);
        }
      }
      const auto [it, inserted] = index_.emplace(tensor, sources_.size());
      if (!inserted) return {it->second, false};
    }
    sources_.emplace_back(tensor, delta);
    return {sources_.size() - 1, true};
  }

  TensorSource& operator[](size_t i) { return sources_[i]; }

 private:
  static constexpr size_t kMaxLinear = 16;

  absl::InlinedVector<TensorSource, 4> sources_;
  // Filled once a search would be slow.
  absl::flat_hash_map<const EncodedTensorView*, size_t> index_;
};

// Checks everything first, then decodes column by column.
class SampleDecoder {
 public:
  SampleDecoder(absl::Span<const ColumnView> columns,
                const DecodeLimits& limits)
      : columns_(columns), limits_(limits) {}

  absl::StatusOr<std::vector<Tensor>> Run() {
    std::vector<Tensor> tensors(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      const absl::Status status = Plan(columns_[i], tensors[i]);
      if (!status.ok()) return InColumn(i, status);
    }
    size_t slice = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const absl::Status status = Decode(columns_[i], slice, tensors[i]);
      if (!status.ok()) return InColumn(i, status);
      slice += columns_[i].slices.size();
    }
    return tensors;
  }

 private:
  // Adds to what the sample takes; sizes that the checks let through can't
  // overflow two terms of the sum.
  absl::Status Take(int64_t bytes) {
    const int64_t left = limits_.max_sample_bytes - taken_bytes_;
    if (bytes <= left) {
      taken_bytes_ += bytes;
      return absl::OkStatus();
    }
    ErrorInfo info;
    info.limit = absl::StrCat(limits_.max_sample_bytes);
    return WithErrorInfo(
        absl::ResourceExhaustedError(
            absl::StrCat("with this column a sample takes more than the limit "
                         "of ",
                         info.limit, " bytes")),
        info);
  }

  // Finds and checks what `slice` refers to.
  absl::StatusOr<size_t> Resolve(const SliceView& slice) {
    if (slice.chunk == nullptr) {
      return absl::InvalidArgumentError("a chunk is missing");
    }
    const auto& tensors = slice.chunk->tensors;
    if (slice.index < 0 || static_cast<size_t>(slice.index) >= tensors.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no tensor ", slice.index, " in a chunk of ",
                       tensors.size()));
    }
    const auto [at, is_new] =
        sources_.Add(&tensors[slice.index], slice.chunk->delta_encoded);
    TensorSource& source = sources_[at];
    if (is_new) REVERB_RETURN_IF_ERROR(source.Check(limits_.max_chunk_bytes));
    if (slice.offset < 0 || slice.length < 0 ||
        int64_t{slice.offset} + slice.length > source.rows()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "rows ", slice.offset, " to ", int64_t{slice.offset} + slice.length,
          " of a chunk of ", source.rows()));
    }
    ++source.uses_left;
    return at;
  }

  // Checks a column; sets dtype and shape of its result.
  absl::Status Plan(const ColumnView& column, Tensor& result) {
    if (column.slices.empty()) {
      return absl::InvalidArgumentError("it has no slices");
    }
    int64_t rows = 0;
    size_t first = 0;
    for (size_t i = 0; i < column.slices.size(); ++i) {
      REVERB_ASSIGN_OR_RETURN(const size_t at, Resolve(column.slices[i]));
      slice_sources_.push_back(at);
      rows += column.slices[i].length;
      if (i == 0) {
        first = at;
      } else if (at != first) {
        const TensorSource& a = sources_[first];
        const TensorSource& b = sources_[at];
        if (a.tensor()->dtype != b.tensor()->dtype ||
            a.row_dims() != b.row_dims()) {
          return absl::InvalidArgumentError(absl::StrCat(
              "its slices differ: ", Describe(a), " and ", Describe(b)));
        }
      }
    }
    if (column.squeeze && rows != 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "it has ", rows, " rows where squeezing takes exactly 1"));
    }
    const TensorSource& source = sources_[first];
    result.dtype = source.tensor()->dtype;
    if (!column.squeeze) result.dims.push_back(rows);
    const auto row_dims = source.row_dims();
    result.dims.insert(result.dims.end(), row_dims.begin(), row_dims.end());
    // Repeated slices can ask for more than any chunk holds.
    int64_t bytes;
    if (__builtin_mul_overflow(
            rows,
            source.is_string()
                ? source.row_elements() * int64_t{sizeof(std::string)}
                : static_cast<int64_t>(source.row_bytes()),
            &bytes)) {
      bytes = std::numeric_limits<int64_t>::max();
    }
    return Take(bytes);
  }

  // `slice` is the number of the column's first one in the sample.
  absl::Status Decode(const ColumnView& column, size_t slice, Tensor& result) {
    if (result.dtype == DType::kString) {
      return DecodeStringColumn(column, slice, result);
    }
    int64_t rows = 0;
    for (const SliceView& part : column.slices) rows += part.length;
    const size_t size =
        static_cast<size_t>(rows) * sources_[slice_sources_[slice]].row_bytes();
    REVERB_ASSIGN_OR_RETURN(result.data, Buffer::Allocate(size));
    char* out = result.data.data();
    for (const SliceView& part : column.slices) {
      TensorSource& source = sources_[slice_sources_[slice++]];
      const size_t scratch_before = source.scratch_bytes();
      REVERB_RETURN_IF_ERROR(
          source.CopyRows(part.offset, part.length, out,
                          limits_.max_sample_bytes - taken_bytes_));
      REVERB_RETURN_IF_ERROR(
          Take(static_cast<int64_t>(source.scratch_bytes() - scratch_before)));
      if (--source.uses_left == 0) {
        taken_bytes_ -= static_cast<int64_t>(source.scratch_bytes());
        source.DropScratch();
      }
      out += static_cast<size_t>(part.length) * source.row_bytes();
    }
    if (result.dtype == DType::kBool) NormalizeBools(result.data.span());
    return absl::OkStatus();
  }

  absl::Status DecodeStringColumn(const ColumnView& column, size_t slice,
                                  Tensor& result) {
    size_t total = 0;
    for (size_t i = 0; i < column.slices.size(); ++i) {
      total += static_cast<size_t>(column.slices[i].length) *
               sources_[slice_sources_[slice + i]].row_elements();
    }
    result.strings.reserve(total);
    for (const SliceView& part : column.slices) {
      TensorSource& source = sources_[slice_sources_[slice++]];
      REVERB_ASSIGN_OR_RETURN(const auto strings, source.Strings());
      const auto wanted = strings.subspan(part.offset * source.row_elements(),
                                          part.length * source.row_elements());
      int64_t bytes = 0;
      for (const absl::string_view text : wanted) {
        bytes += static_cast<int64_t>(text.size());
      }
      REVERB_RETURN_IF_ERROR(Take(bytes));
      for (const absl::string_view text : wanted) {
        result.strings.emplace_back(text);
      }
    }
    return absl::OkStatus();
  }

  const absl::Span<const ColumnView> columns_;
  const DecodeLimits limits_;
  SourceSet sources_;
  // Of every slice of the sample in order, the number of its source.
  absl::InlinedVector<size_t, 16> slice_sources_;
  int64_t taken_bytes_ = 0;  // results, and what is decoded beside them
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> DecodeSample(
    absl::Span<const ColumnView> columns, const DecodeLimits& limits) {
  // Strings and bookkeeping live in standard containers.
  try {
    return SampleDecoder(columns, limits).Run();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no memory to decode a sample");
  }
}

}  // namespace reverb
