// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/cells.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/data/decode.h"
#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/data/row_buffer.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/buffer.h"
#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/wire/data_messages.h"

namespace reverb {
namespace {

std::string Describe(DType dtype, const Dims& dims) {
  return absl::StrCat(DTypeName(dtype), " ", ShapeString(dims));
}

// The first `length` rows of `rows` onto the end of `whole` at `row`.
void CopyRows(const Tensor& rows, size_t row_bytes, int64_t row,
              Tensor& whole) {
  std::copy(rows.strings.begin(), rows.strings.end(),
            std::back_inserter(whole.strings));
  if (row_bytes == 0) return;
  std::copy_n(rows.data.data(), rows.data.size(),
              whole.data.data() + static_cast<size_t>(row) * row_bytes);
}

}  // namespace

bool CellRef::expired() const {
  return block->first_cell() + row < block->column().first_alive();
}

CellColumn::CellColumn(const ColumnOptions& options)
    : options_(options), tuner_(options.num_keep_alive_refs) {}

absl::Status CellColumn::Check(const TensorView& cell) const {
  if (spec_.dtype == DType::kInvalid) return RowBuffer().Check(cell);
  if (cell.dtype != spec_.dtype || cell.dims != spec_.dims) {
    return WithErrorInfo(absl::InvalidArgumentError(absl::StrCat(
                             "expected ", Describe(spec_.dtype, spec_.dims),
                             ", got ", Describe(cell.dtype, cell.dims))),
                         {.limit = Describe(spec_.dtype, spec_.dims),
                          .actual = Describe(cell.dtype, cell.dims)});
  }
  if (const size_t bytes = RawBytes(cell); bytes > kMaxCellBytes) {
    return WithErrorInfo(
        absl::ResourceExhaustedError(
            absl::StrCat("a cell of ", bytes, " bytes is larger than the ",
                         kMaxCellBytes, " bytes that one message can hold")),
        {.limit = absl::StrCat(kMaxCellBytes), .actual = absl::StrCat(bytes)});
  }
  return absl::OkStatus();
}

CellRef CellColumn::Append(const TensorView& cell, uint64_t episode_id,
                           int32_t step) {
  if (spec_.dtype == DType::kInvalid) {
    spec_ = {.dtype = cell.dtype, .dims = cell.dims};
  }
  std::optional<int32_t> row;
  if (!blocks_.empty()) {
    row = blocks_.back()->TryAppend(cell, episode_id, step);
  }
  if (!row) {
    blocks_.push_back(
        MakeRef<CellBlock>(Ref<CellColumn>(this), num_cells_, ChunkLength()));
    row = blocks_.back()->TryAppend(cell, episode_id, step);
  }
  ++num_cells_;
  CellRef ref{.block = blocks_.back(), .row = row.value_or(0)};
  ExpireBefore(num_cells_ - options_.num_keep_alive_refs);
  return ref;
}

int64_t CellColumn::ChunkLength() const {
  if (options_.max_chunk_length) return *options_.max_chunk_length;
  MutexLock lock(mu_);
  return tuner_.length();
}

absl::Status CellColumn::CheckConfigure() const {
  if (blocks_.empty() || blocks_.back()->closed()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "a column can't be configured while a chunk of it is being filled: "
      "flush first");
}

void CellColumn::Configure(const ColumnOptions& options) {
  options_ = options;
  {
    MutexLock lock(mu_);
    tuner_ = ChunkLengthTuner(options.num_keep_alive_refs);
  }
  ExpireBefore(num_cells_ - options_.num_keep_alive_refs);
}

void CellColumn::CloseBlock() {
  if (!blocks_.empty()) blocks_.back()->Close();
}

void CellColumn::Clear() {
  CloseBlock();
  ExpireBefore(num_cells_);
}

void CellColumn::ExpireBefore(int64_t cell) {
  if (cell <= first_alive()) return;
  first_alive_.store(cell, std::memory_order_relaxed);
  while (!blocks_.empty()) {
    const std::optional<int64_t> end = blocks_.front()->end_cell();
    if (!end || *end > cell) break;
    if (const Ref<const Chunk> chunk = blocks_.front()->chunk()) {
      expired_chunks_.push_back(chunk->key());
    }
    blocks_.pop_front();
  }
}

std::vector<ChunkKey> CellColumn::TakeExpiredChunks() {
  return std::exchange(expired_chunks_, {});
}

void CellColumn::OnChunk(int64_t num_cells, size_t bytes) {
  MutexLock lock(mu_);
  tuner_.OnChunk(num_cells, bytes);
}

void CellColumn::OnItem(int64_t num_cells, size_t bytes) {
  MutexLock lock(mu_);
  tuner_.OnItem(num_cells, bytes);
}

CellBlock::CellBlock(Ref<CellColumn> column, int64_t first_cell,
                     int64_t max_rows)
    : column_(std::move(column)),
      first_cell_(first_cell),
      chunker_({.max_rows = max_rows}) {}

bool CellBlock::closed() const {
  MutexLock lock(mu_);
  return closed_;
}

void CellBlock::Close() {
  MutexLock lock(mu_);
  closed_ = true;
}

std::optional<int64_t> CellBlock::end_cell() const {
  MutexLock lock(mu_);
  if (!closed_) return std::nullopt;
  return first_cell_ + num_rows_;
}

std::optional<int32_t> CellBlock::TryAppend(const TensorView& cell,
                                            uint64_t episode_id, int32_t step) {
  const size_t bytes = RawBytes(cell);
  MutexLock lock(mu_);
  if (raw_bytes_ + bytes > kMaxCellBytes) closed_ = true;
  if (closed_) return std::nullopt;
  chunker_.AppendChecked(absl::MakeConstSpan(&cell, 1), episode_id, step);
  raw_bytes_ += bytes;
  closed_ = chunker_.full();
  return static_cast<int32_t>(num_rows_++);
}

Ref<const Chunk> CellBlock::ToChunk() {
  Ref<const Chunk> made;
  int64_t num_rows = 0;
  {
    MutexLock lock(mu_);
    if (chunk_) return chunk_;
    closed_ = true;
    chunk_ = chunker_.Seal();
    chunker_.Discard();
    made = chunk_;
    num_rows = num_rows_;
  }
  column_->OnChunk(num_rows, made->bytes().size());
  return made;
}

Ref<const Chunk> CellBlock::chunk() const {
  MutexLock lock(mu_);
  return chunk_;
}

bool CellBlock::expired() const {
  const std::optional<int64_t> end = end_cell();
  return end && *end <= column_->first_alive();
}

size_t CellBlock::TakeUncharged() {
  MutexLock lock(mu_);
  return raw_bytes_ - std::exchange(charged_bytes_, raw_bytes_);
}

absl::StatusOr<Tensor> CellBlock::Rows(int32_t offset, int32_t length) const {
  Ref<const Chunk> chunk;
  {
    MutexLock lock(mu_);
    chunk = chunk_;
    if (!chunk) return chunker_.columns()[0].Rows(offset, length);
  }
  REVERB_ASSIGN_OR_RETURN(const ChunkView view,
                          wire::ParseChunkView(chunk->bytes()));
  const ColumnView column{
      .slices = {{.chunk = &view, .offset = offset, .length = length}}};
  REVERB_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                          DecodeSample(absl::MakeConstSpan(&column, 1)));
  return std::move(tensors[0]);
}

std::vector<CellRun> ToRuns(absl::Span<const CellRef> cells) {
  std::vector<CellRun> runs;
  for (const CellRef& cell : cells) {
    if (!runs.empty() && runs.back().block.get() == cell.block.get() &&
        runs.back().offset + runs.back().length == cell.row) {
      ++runs.back().length;
    } else {
      runs.push_back({.block = cell.block, .offset = cell.row, .length = 1});
    }
  }
  return runs;
}

absl::StatusOr<Tensor> StackCells(absl::Span<const CellRef> cells) {
  const std::vector<CellRun> runs = ToRuns(cells);
  if (runs.size() == 1) {
    return runs[0].block->Rows(runs[0].offset, runs[0].length);
  }
  const CellSpec& spec = runs[0].block->column().spec();
  Tensor whole;
  whole.dtype = spec.dtype;
  whole.dims.push_back(static_cast<int64_t>(cells.size()));
  whole.dims.insert(whole.dims.end(), spec.dims.begin(), spec.dims.end());
  size_t row_bytes = 0;
  int64_t row = 0;
  for (const CellRun& run : runs) {
    REVERB_ASSIGN_OR_RETURN(const Tensor rows,
                            run.block->Rows(run.offset, run.length));
    if (row == 0 && rows.data.size() > 0) {
      row_bytes = rows.data.size() / static_cast<size_t>(run.length);
      REVERB_ASSIGN_OR_RETURN(whole.data,
                              Buffer::Allocate(row_bytes * cells.size()));
    }
    CopyRows(rows, row_bytes, row, whole);
    row += run.length;
  }
  return whole;
}

}  // namespace reverb
