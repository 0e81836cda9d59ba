// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/batch_builder.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/buffer.h"
#include "reverb/cc/tensor/dtype.h"

namespace reverb {
namespace {

// An array of `rows` rows of what has `dims`, not yet filled.
absl::StatusOr<Tensor> NewRows(int64_t rows, DType dtype,
                               absl::Span<const int64_t> dims) {
  Tensor tensor{.dtype = dtype, .dims = {rows}, .data = {}, .strings = {}};
  tensor.dims.insert(tensor.dims.end(), dims.begin(), dims.end());
  if (dtype == DType::kString) return tensor;  // these grow
  const std::optional<int64_t> elements = NumElements(tensor.dims);
  int64_t bytes;
  if (!elements ||
      __builtin_mul_overflow(
          *elements, static_cast<int64_t>(ElementSize(dtype)), &bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a batch of ", rows, " times ",
                     DTypeName(dtype), " ", ShapeString(dims)));
  }
  REVERB_ASSIGN_OR_RETURN(tensor.data,
                          Buffer::Allocate(static_cast<size_t>(bytes)));
  return tensor;
}

// Cuts `tensor`, whose first dimension is longer, to its first `rows` rows.
absl::Status CutRows(Tensor& tensor, int64_t rows) {
  const int64_t had = std::exchange(tensor.dims[0], rows);
  if (tensor.dtype == DType::kString) return absl::OkStatus();
  const size_t size =
      tensor.data.size() / static_cast<size_t>(had) * static_cast<size_t>(rows);
  REVERB_ASSIGN_OR_RETURN(Buffer cut, Buffer::Allocate(size));
  if (size > 0) std::memcpy(cut.data(), tensor.data.data(), size);
  tensor.data = std::move(cut);
  return absl::OkStatus();
}

template <typename T>
void Set(Tensor& tensor, int64_t row, T value) {
  std::memcpy(tensor.data.data() + static_cast<size_t>(row) * sizeof(T), &value,
              sizeof(T));
}

std::string Describe(DType dtype, absl::Span<const int64_t> dims) {
  return absl::StrCat(DTypeName(dtype), " ", ShapeString(dims));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BatchBuilder>> BatchBuilder::Create(
    std::unique_ptr<Sampler> sampler, Options options) {
  if (options.batch_size < 1) {
    return WithErrorInfo(
        absl::InvalidArgumentError(
            absl::StrCat("batch_size must be >= 1, not ", options.batch_size)),
        {.table = options.table,
         .limit = "1",
         .actual = absl::StrCat(options.batch_size)});
  }
  return absl::WrapUnique(
      new BatchBuilder(std::move(sampler), std::move(options)));
}

absl::StatusOr<BatchData> BatchBuilder::Next(const WaitOptions& wait) {
  while (final_.ok()) {
    absl::StatusOr<SampleData> sample = sampler_->Next(wait);
    if (!sample.ok()) {
      // A deadline of the caller's is none of the sampler's.
      const bool ended = absl::IsOutOfRange(sample.status()) ||
                         (absl::IsDeadlineExceeded(sample.status()) &&
                          wait.deadline == kNoDeadline);
      if (!ended) return sample.status();
      final_ = sample.status();
      if (num_items_ > 0 && !options_.drop_remainder) return Take();
      break;
    }
    final_ = num_items_ == 0 ? Begin(*sample) : Check(*sample);
    if (!final_.ok()) {
      // What is in the batch was not handed out, and won't be.
      sampler_->Close();
      break;
    }
    Add(*std::move(sample));
    if (num_items_ == options_.batch_size) return Take();
  }
  return final_;
}

absl::Status BatchBuilder::Begin(const SampleData& first) {
  const int64_t rows = options_.batch_size;
  BatchData batch;
  for (const auto& [tensor, dtype] :
       {std::pair{&batch.keys, DType::kUint64},
        std::pair{&batch.probabilities, DType::kFloat64},
        std::pair{&batch.table_sizes, DType::kInt64},
        std::pair{&batch.priorities, DType::kFloat64},
        std::pair{&batch.times_sampled, DType::kInt32}}) {
    REVERB_ASSIGN_OR_RETURN(*tensor, NewRows(rows, dtype, {}));
  }
  batch.columns.reserve(first.columns.size());
  for (const Tensor& column : first.columns) {
    REVERB_ASSIGN_OR_RETURN(Tensor made,
                            NewRows(rows, column.dtype, column.dims));
    batch.columns.push_back(std::move(made));
  }
  batch.structure = first.structure;
  batch_ = std::move(batch);
  return absl::OkStatus();
}

absl::Status BatchBuilder::Check(const SampleData& sample) const {
  if (sample.columns.size() != batch_.columns.size()) {
    return WithErrorInfo(
        absl::InvalidArgumentError(absl::StrCat(
            "item ", sample.key, " of table '", options_.table, "' has ",
            sample.columns.size(), " columns, those before it in the batch ",
            batch_.columns.size(), ": only items of one shape make a batch")),
        {.table = options_.table,
         .limit = absl::StrCat(batch_.columns.size()),
         .actual = absl::StrCat(sample.columns.size())});
  }
  for (size_t i = 0; i < sample.columns.size(); ++i) {
    const Tensor& column = sample.columns[i];
    const auto dims = absl::MakeConstSpan(batch_.columns[i].dims).subspan(1);
    if (column.dtype == batch_.columns[i].dtype && column.dims == dims) {
      continue;
    }
    const std::string expected = Describe(batch_.columns[i].dtype, dims);
    const std::string actual = Describe(column.dtype, column.dims);
    return WithErrorInfo(
        absl::InvalidArgumentError(
            absl::StrCat("column ", i, " of item ", sample.key, " of table '",
                         options_.table, "' is ", actual,
                         ", in the items before it in the "
                         "batch ",
                         expected, ": only items of one shape make a batch")),
        {.table = options_.table,
         .column = absl::StrCat(i),
         .limit = expected,
         .actual = actual});
  }
  return absl::OkStatus();
}

void BatchBuilder::Add(SampleData sample) {
  const int64_t row = num_items_++;
  Set(batch_.keys, row, sample.key);
  Set(batch_.probabilities, row, sample.probability);
  Set(batch_.table_sizes, row, sample.table_size);
  Set(batch_.priorities, row, sample.priority);
  Set(batch_.times_sampled, row, sample.times_sampled);
  for (size_t i = 0; i < sample.columns.size(); ++i) {
    Tensor& from = sample.columns[i];
    Tensor& to = batch_.columns[i];
    to.strings.insert(to.strings.end(),
                      std::make_move_iterator(from.strings.begin()),
                      std::make_move_iterator(from.strings.end()));
    // The row was just decoded and is in the cache.
    const size_t size = from.data.size();
    if (size > 0) {
      std::memcpy(to.data.data() + static_cast<size_t>(row) * size,
                  from.data.data(), size);
    }
  }
  if (sample.structure != batch_.structure) batch_.structure.clear();
}

absl::StatusOr<BatchData> BatchBuilder::Take() {
  const int64_t rows = std::exchange(num_items_, 0);
  BatchData batch = std::move(batch_);
  if (rows < options_.batch_size) {
    for (Tensor* tensor :
         {&batch.keys, &batch.probabilities, &batch.table_sizes,
          &batch.priorities, &batch.times_sampled}) {
      REVERB_RETURN_IF_ERROR(CutRows(*tensor, rows));
    }
    for (Tensor& column : batch.columns) {
      REVERB_RETURN_IF_ERROR(CutRows(column, rows));
    }
  }
  return batch;
}

}  // namespace reverb
