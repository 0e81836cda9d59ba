// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/chunker.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/data_messages.h"

namespace reverb {

size_t RawBytes(const TensorView& cell) {
  size_t bytes = cell.data.size();
  for (absl::string_view text : cell.strings) {
    bytes += text.size() + sizeof(absl::string_view);
  }
  return bytes;
}

Chunker::Chunker(const Options& options)
    : options_(options), key_(RandomKey()) {}

bool Chunker::full() const {
  return num_rows_ >= options_.max_rows ||
         (num_rows_ > 0 && raw_bytes_ >= options_.max_raw_bytes);
}

absl::Status Chunker::Check(absl::Span<const TensorView> cells) const {
  if (cells.empty()) {
    return absl::InvalidArgumentError("a step has no columns");
  }
  size_t bytes = 0;
  for (const TensorView& cell : cells) bytes += RawBytes(cell);
  if (bytes > kMaxCellBytes) {
    return WithErrorInfo(
        absl::ResourceExhaustedError(
            absl::StrCat("a step of ", bytes, " bytes is larger than the ",
                         kMaxCellBytes, " bytes that one message can hold")),
        {.limit = absl::StrCat(kMaxCellBytes), .actual = absl::StrCat(bytes)});
  }
  // What an earlier chunk held binds only that chunk.
  const bool is_first = num_rows_ == 0;
  if (!is_first && cells.size() != columns_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a step has ", cells.size(),
                     " columns, those before it have ", columns_.size()));
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    const absl::Status status =
        is_first ? RowBuffer().Check(cells[i]) : columns_[i].Check(cells[i]);
    if (!status.ok()) {
      return WithErrorInfo(
          absl::Status(status.code(),
                       absl::StrCat("column ", i, ": ", status.message())),
          {.column = absl::StrCat(i)});
    }
  }
  return absl::OkStatus();
}

absl::Status Chunker::Append(absl::Span<const TensorView> cells,
                             uint64_t episode_id, int32_t step) {
  REVERB_RETURN_IF_ERROR(Check(cells));
  AppendChecked(cells, episode_id, step);
  return absl::OkStatus();
}

void Chunker::AppendChecked(absl::Span<const TensorView> cells,
                            uint64_t episode_id, int32_t step) {
  if (num_rows_ == 0) {
    range_ = {.episode_id = episode_id, .start = step, .end = step};
    // Buffers are kept for their memory where they fit.
    columns_.resize(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!columns_[i].Check(cells[i]).ok()) columns_[i] = RowBuffer();
    }
  } else {
    if (int64_t{step} != int64_t{range_.end} + 1) range_.sparse = true;
    range_.end = step;
  }
  for (size_t i = 0; i < cells.size(); ++i) {
    columns_[i].Append(cells[i]);
    raw_bytes_ += RawBytes(cells[i]);
  }
  ++num_rows_;
}

Ref<const Chunk> Chunker::Seal() {
  std::vector<EncodedTensor> tensors;
  tensors.reserve(columns_.size());
  for (RowBuffer& column : columns_) {
    tensors.push_back(column.Encode(options_.delta_encoded));
    column.Clear();
  }
  Ref<const Chunk> chunk =
      wire::BuildChunk(key_, range_, options_.delta_encoded, tensors);
  num_rows_ = 0;
  raw_bytes_ = 0;
  key_ = RandomKey();
  return chunk;
}

}  // namespace reverb
