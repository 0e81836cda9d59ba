// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/item_queue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/log.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/tensor/dtype.h"

namespace reverb {
namespace {

// Pending bytes from which on a writer without a limit warns.
constexpr int64_t kWarnBytes = int64_t{1} << 30;

std::string Describe(const CellSpec& spec) {
  return absl::StrCat(DTypeName(spec.dtype), " ", ShapeString(spec.dims));
}

absl::Status BadColumn(absl::string_view table, size_t column,
                       absl::string_view what) {
  return WithErrorInfo(
      absl::InvalidArgumentError(absl::StrCat(
          "column ", column, " of an item for table '", table, "' ", what)),
      {.table = std::string(table), .column = absl::StrCat(column)});
}

// Dtype and shape that a column of an item has.
CellSpec ShapeOf(const ItemColumn& column) {
  CellSpec spec = column.cells[0].block->column().spec();
  if (!column.squeeze) {
    spec.dims.insert(spec.dims.begin(),
                     static_cast<int64_t>(column.cells.size()));
  }
  return spec;
}

absl::Status CheckColumn(absl::string_view table, size_t number,
                         const ItemColumn& column) {
  if (column.cells.empty()) return BadColumn(table, number, "is empty");
  if (column.squeeze && column.cells.size() != 1) {
    return BadColumn(
        table, number,
        absl::StrCat("is squeezed but has ", column.cells.size(), " cells"));
  }
  for (size_t i = 0; i < column.cells.size(); ++i) {
    const CellRef& cell = column.cells[i];
    if (!cell) {
      return BadColumn(
          table, number,
          absl::StrCat("refers to a step without a value (cell ", i, ")"));
    }
    if (cell.expired()) {
      return BadColumn(
          table, number,
          absl::StrCat("refers to a step that has expired (cell ", i,
                       "): only the newest num_keep_alive_refs are kept"));
    }
    const CellSpec& first = column.cells[0].block->column().spec();
    const CellSpec& spec = cell.block->column().spec();
    if (&spec != &first && spec != first) {
      return BadColumn(table, number,
                       absl::StrCat("mixes cells of ", Describe(first), " and ",
                                    Describe(spec)));
    }
  }
  return absl::OkStatus();
}

// `status` with the signatures of both sides.
absl::Status WithSignatures(const absl::Status& status,
                            const Signature& signature,
                            absl::Span<const CellSpec> columns) {
  const auto spec_text = [](std::string* out, const TensorSpec& spec) {
    absl::StrAppend(out, spec.ToString());
  };
  const auto cell_text = [](std::string* out, const CellSpec& spec) {
    absl::StrAppend(out, Describe(spec));
  };
  absl::Status with(
      status.code(),
      CutStatusText(absl::StrCat(
          status.message(), " The item's columns: [",
          absl::StrJoin(columns, ", ", cell_text), "]; the signature: [",
          absl::StrJoin(signature, ", ", spec_text), "].")));
  return WithErrorInfo(std::move(with),
                       GetErrorInfo(status).value_or(ErrorInfo()));
}

}  // namespace

absl::Status CheckItemColumns(absl::string_view table,
                              absl::Span<const ItemColumn> columns) {
  const bool all_empty = std::all_of(
      columns.begin(), columns.end(),
      [](const ItemColumn& column) { return column.cells.empty(); });
  if (all_empty) {
    return WithErrorInfo(
        absl::InvalidArgumentError(absl::StrCat(
            "an item for table '", table, "' must refer to data: ",
            columns.empty() ? "it has no columns" : "all columns are empty")),
        {.table = std::string(table)});
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    absl::Status status = CheckColumn(table, i, columns[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckItemSignature(absl::string_view table,
                                const Signature& signature,
                                absl::Span<const ItemColumn> columns) {
  bool fits = columns.size() == signature.size();
  for (size_t i = 0; fits && i < columns.size(); ++i) {
    const CellSpec& cell = columns[i].cells[0].block->column().spec();
    const TensorSpec& spec = signature[i];
    fits = cell.dtype == spec.dtype &&
           (columns[i].squeeze
                ? spec.Fits(cell.dims)
                : spec.FitsRows(static_cast<int64_t>(columns[i].cells.size()),
                                cell.dims));
  }
  if (fits) return absl::OkStatus();
  std::vector<CellSpec> shapes;
  shapes.reserve(columns.size());
  for (const ItemColumn& column : columns) shapes.push_back(ShapeOf(column));
  return WithSignatures(CheckColumns(table, signature, shapes), signature,
                        shapes);
}

bool ItemQueue::Queued::IsComplete() const {
  return std::all_of(columns.begin(), columns.end(), [](const Column& column) {
    return std::all_of(column.runs.begin(), column.runs.end(),
                       [](const CellRun& run) { return run.block->closed(); });
  });
}

ItemQueue::ItemQueue(std::shared_ptr<InsertStream> stream,
                     std::optional<int64_t> max_pending_bytes)
    : stream_(std::move(stream)), max_pending_bytes_(max_pending_bytes) {}

int64_t ItemQueue::pending_bytes() const {
  return queued_bytes_ + stream_->pending_bytes();
}

absl::Status ItemQueue::CheckRoom() const {
  absl::Status status = stream_->status();
  if (!status.ok() || !max_pending_bytes_) return status;
  const int64_t bytes = pending_bytes();
  if (bytes < *max_pending_bytes_) return absl::OkStatus();
  return WithErrorInfo(
      absl::ResourceExhaustedError(absl::StrCat(
          "items of ", bytes, " bytes are pending, max_pending_bytes is ",
          *max_pending_bytes_, ": flush more often")),
      {.limit = absl::StrCat(*max_pending_bytes_),
       .actual = absl::StrCat(bytes)});
}

ItemKey ItemQueue::Add(absl::string_view table, double priority,
                       absl::Span<const ItemColumn> columns,
                       std::shared_ptr<const std::string> structure) {
  Queued& item = queued_.emplace_back();
  item.key = RandomKey();
  item.table = std::string(table);
  item.priority = priority;
  item.structure = std::move(structure);
  item.columns.reserve(columns.size());
  for (const ItemColumn& column : columns) {
    item.columns.push_back(
        {.runs = ToRuns(column.cells), .squeeze = column.squeeze});
    for (const CellRun& run : item.columns.back().runs) {
      item.charged_bytes += run.block->TakeUncharged();
    }
  }
  queued_bytes_ += static_cast<int64_t>(item.charged_bytes);
  if (!warned_ && !max_pending_bytes_ && queued_bytes_ > 0 &&
      pending_bytes() >= kWarnBytes) {
    warned_ = true;
    LogWarning(absl::StrCat(
        "items of over ", kWarnBytes, " bytes are pending in a writer: the ",
        "server takes them more slowly than they are made; flush, or set ",
        "max_pending_bytes"));
  }
  return item.key;
}

bool ItemQueue::can_send() const {
  return !queued_.empty() && queued_.front().IsComplete();
}

OutgoingItem ItemQueue::ToOutgoing(Queued queued,
                                   std::vector<Ref<const Chunk>>& kept) {
  Trajectory trajectory;
  for (const Column& column : queued.columns) {
    int64_t num_cells = 0;
    size_t bytes = 0;
    const CellBlock* last = nullptr;
    for (size_t i = 0; i < column.runs.size(); ++i) {
      const CellRun& run = column.runs[i];
      Ref<const Chunk> chunk = run.block->ToChunk();
      if (!run.block->expired() && run.block->TakeAnnouncement()) {
        kept.push_back(chunk);
      }
      num_cells += run.length;
      if (run.block.get() != last) bytes += chunk->bytes().size();
      last = run.block.get();
      const bool ends_column = i + 1 == column.runs.size();
      trajectory.Add({.chunk = std::move(chunk),
                      .offset = run.offset,
                      .length = run.length,
                      .ends_column = ends_column,
                      .squeeze = ends_column && column.squeeze});
    }
    column.runs[0].block->column().OnItem(num_cells, bytes);
  }
  return {.table = std::move(queued.table),
          .priority = queued.priority,
          .item = MakeRef<Item>(queued.key, std::move(trajectory),
                                std::move(queued.structure)),
          .charged_bytes = queued.charged_bytes};
}

absl::Status ItemQueue::Send(
    absl::Span<const std::shared_ptr<StepHistory>> histories) {
  std::vector<OutgoingItem> items;
  std::vector<Ref<const Chunk>> kept;
  while (can_send()) {
    queued_bytes_ -= static_cast<int64_t>(queued_.front().charged_bytes);
    items.push_back(ToOutgoing(std::move(queued_.front()), kept));
    queued_.pop_front();
  }
  if (items.empty()) return absl::OkStatus();
  std::vector<ChunkKey> expired;
  for (const std::shared_ptr<StepHistory>& history : histories) {
    const std::vector<ChunkKey> more = history->TakeExpiredChunks();
    expired.insert(expired.end(), more.begin(), more.end());
  }
  stream_->UpdateKept(kept, expired);
  return stream_->Append(std::move(items));
}

void ItemQueue::CloseOldest(int64_t max_pending) {
  const int64_t exempt =
      std::min(max_pending, static_cast<int64_t>(queued_.size()));
  for (size_t i = 0; i + static_cast<size_t>(exempt) < queued_.size(); ++i) {
    for (const Column& column : queued_[i].columns) {
      for (const CellRun& run : column.runs) run.block->Close();
    }
  }
}

absl::Status ItemQueue::Await(int64_t max_pending, const WaitOptions& wait) {
  return stream_->AwaitPending(
      std::max<int64_t>(0, max_pending - static_cast<int64_t>(queued_.size())),
      wait);
}

int64_t ItemQueue::num_pending() const {
  return static_cast<int64_t>(queued_.size()) + stream_->num_pending();
}

}  // namespace reverb
