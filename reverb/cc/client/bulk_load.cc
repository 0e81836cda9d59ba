// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/bulk_load.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/data/encode_rows.h"
#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/data/item.h"
#include "reverb/cc/data/row_buffer.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/tensor/dtype.h"
#include "reverb/cc/wire/data_messages.h"

namespace reverb {
namespace {

// Whoever samples an item gets its chunks whole. Rows smaller than this share
// one, since a chunk costs about a hundred bytes itself.
constexpr size_t kSmallChunkBytes = 1024;
constexpr int64_t kMaxSmallRows = 64;
// Overlapping windows: so many chunks cover one. More share better, fewer cost
// less.
constexpr int64_t kChunksPerWindow = 4;
constexpr size_t kMaxChunkBytes = size_t{1} << 20;

// What is queued at a time, and what may be unconfirmed.
constexpr int64_t kBatchItems = 512;
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr int64_t kMaxPendingItems = 8192;
constexpr int64_t kMaxPendingBytes = int64_t{64} << 20;

// How much longer than the deadline an answer may take, and how long the next
// one if the server is to try once.
constexpr std::chrono::seconds kAnswerGrace{2};

// Rows `[begin, end)` of `column`.
TensorView RowsOf(const TensorView& column, int64_t begin, int64_t end) {
  const auto rows = static_cast<size_t>(column.dims[0]);
  const auto first = static_cast<size_t>(begin);
  const auto count = static_cast<size_t>(end - begin);
  TensorView view;
  view.dtype = column.dtype;
  view.dims = column.dims;
  view.dims[0] = end - begin;
  if (column.dtype == DType::kString) {
    const size_t per_row = column.strings.size() / rows;
    view.strings = column.strings.subspan(first * per_row, count * per_row);
  } else {
    const size_t per_row = column.data.size() / rows;
    view.data = column.data.substr(first * per_row, count * per_row);
  }
  return view;
}

absl::Status BadColumn(const std::string& table, size_t column,
                       absl::string_view what) {
  return WithErrorInfo(
      absl::InvalidArgumentError(absl::StrCat(
          "column ", column, " of the data for table '", table, "' ", what)),
      {.table = table, .column = absl::StrCat(column)});
}

absl::Status CheckAtLeastOne(const std::string& table, absl::string_view what,
                             int64_t value) {
  if (value >= 1) return absl::OkStatus();
  return WithErrorInfo(
      absl::InvalidArgumentError(
          absl::StrCat(what, " must be >= 1, not ", value)),
      {.table = table, .limit = "1", .actual = absl::StrCat(value)});
}

absl::Status WrongCount(const std::string& table, absl::string_view what,
                        size_t actual, int64_t expected) {
  return WithErrorInfo(absl::InvalidArgumentError(
                           absl::StrCat(actual, " ", what, " of table '", table,
                                        "', there must be ", expected)),
                       {.table = table,
                        .limit = absl::StrCat(expected),
                        .actual = absl::StrCat(actual)});
}

}  // namespace

BulkLoad::BulkLoad(Options options, absl::Span<const TensorView> columns,
                   std::vector<double> priorities,
                   std::shared_ptr<InsertStream> stream)
    : options_(std::move(options)),
      columns_(columns),
      priorities_(std::move(priorities)),
      stream_(std::move(stream)),
      give_up_at_(Clock::Real().Now() + kAnswerGrace) {}

BulkLoad::~BulkLoad() { Close(); }

absl::StatusOr<std::unique_ptr<BulkLoad>> BulkLoad::Create(
    Options options, absl::Span<const TensorView> columns,
    absl::Span<const uint8_t> ends, std::vector<double> priorities,
    const Signature* signature, std::shared_ptr<InsertStream> stream) {
  auto load = absl::WrapUnique(new BulkLoad(
      std::move(options), columns, std::move(priorities), std::move(stream)));
  const std::string& table = load->options_.table;
  REVERB_RETURN_IF_ERROR(load->CheckRows(signature));
  const int64_t rows = columns[0].dims[0];
  if (!ends.empty() && static_cast<int64_t>(ends.size()) != rows) {
    return WrongCount(table, "episode_ends for the rows", ends.size(), rows);
  }
  load->FindEpisodes(ends);
  const size_t num_priorities = load->priorities_.size();
  if (num_priorities != 1 &&
      static_cast<int64_t>(num_priorities) != load->num_items_) {
    return WrongCount(table, "priorities for the items", num_priorities,
                      load->num_items_);
  }
  for (const double priority : load->priorities_) {
    REVERB_RETURN_IF_ERROR(CheckPriorityIsNumber(table, priority));
  }
  if (load->num_items_ > 0) load->ChooseChunkRows();
  return load;
}

absl::Status BulkLoad::CheckRows(const Signature* signature) const {
  const std::string& table = options_.table;
  REVERB_RETURN_IF_ERROR(CheckAtLeastOne(table, "length", options_.length));
  REVERB_RETURN_IF_ERROR(CheckAtLeastOne(table, "stride", options_.stride));
  if (columns_.empty()) {
    return WithErrorInfo(absl::InvalidArgumentError(absl::StrCat(
                             "the data for table '", table, "' has no leaves")),
                         {.table = table});
  }
  std::vector<CellSpec> cells;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Dims& dims = columns_[i].dims;
    if (dims.empty()) {
      return BadColumn(table, i, "is a single value: it needs rows");
    }
    if (dims[0] != columns_[0].dims[0]) {
      return BadColumn(table, i,
                       absl::StrCat("has ", dims[0], " rows, column 0 has ",
                                    columns_[0].dims[0]));
    }
    cells.push_back({.dtype = columns_[i].dtype,
                     .dims = Dims(dims.begin() + 1, dims.end())});
  }
  if (signature == nullptr) return absl::OkStatus();
  return CheckStep(table, *signature, cells, options_.length);
}

void BulkLoad::FindEpisodes(absl::Span<const uint8_t> ends) {
  const int64_t rows = columns_[0].dims[0];
  int64_t begin = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const bool ends_here =
        row + 1 == rows ||
        (!ends.empty() && ends[static_cast<size_t>(row)] != 0);
    if (!ends_here) {
      if (ends.empty()) row = rows - 2;  // to the last one
      continue;
    }
    const int64_t length = row + 1 - begin;
    if (length >= options_.length) {
      const int64_t windows = (length - options_.length) / options_.stride + 1;
      episodes_.push_back(
          {.begin = begin,
           .end = begin + (windows - 1) * options_.stride + options_.length,
           .num_windows = windows});
      num_items_ += windows;
    }
    begin = row + 1;
  }
}

void BulkLoad::ChooseChunkRows() {
  const int64_t rows = columns_[0].dims[0];
  const size_t row_bytes =
      std::max<size_t>(1, RawBytes(0, rows) / static_cast<size_t>(rows));
  const int64_t small_rows = std::clamp<int64_t>(
      static_cast<int64_t>(kSmallChunkBytes / row_bytes), 1, kMaxSmallRows);
  // Rows that no window has are not sent, so windows apart share nothing.
  shares_chunks_ =
      options_.stride < options_.length || small_rows >= 2 * options_.stride;
  chunk_rows_ =
      shares_chunks_
          ? std::max(small_rows, options_.stride < options_.length
                                     ? options_.length / kChunksPerWindow
                                     : options_.length)
          : options_.length;
}

size_t BulkLoad::RawBytes(int64_t begin, int64_t end) const {
  size_t bytes = 0;
  for (const TensorView& column : columns_) {
    bytes += RawSize(RowsOf(column, begin, end));
  }
  return bytes;
}

Ref<const Chunk> BulkLoad::MakeChunk(int64_t begin, int64_t end) const {
  const int64_t first_row = episodes_[episode_].begin;
  constexpr int64_t kMaxStep = std::numeric_limits<int32_t>::max();
  const SequenceRange range{
      .episode_id = episode_id_,
      .start = static_cast<int32_t>(std::min(begin - first_row, kMaxStep)),
      .end = static_cast<int32_t>(std::min(end - 1 - first_row, kMaxStep))};
  std::vector<EncodedTensor> tensors;
  tensors.reserve(columns_.size());
  for (const TensorView& column : columns_) {
    tensors.push_back(EncodeRows(RowsOf(column, begin, end), /*delta=*/false));
  }
  return wire::BuildChunk(RandomKey(), range, /*delta_encoded=*/false, tensors);
}

absl::Status BulkLoad::Cover(int64_t begin, int64_t end) {
  while (!parts_.empty() && parts_.front().end <= begin) {
    old_chunks_.push_back(parts_.front().chunk->key());
    parts_.pop_front();
  }
  int64_t next = parts_.empty() ? begin : std::max(begin, parts_.back().end);
  const int64_t last = shares_chunks_ ? episodes_[episode_].end : end;
  while (next < end) {
    int64_t until = std::min(next + chunk_rows_, last);
    size_t bytes = RawBytes(next, until);
    while (bytes > kMaxChunkBytes && until - next > 1) {
      until = next + (until - next) / 2;
      bytes = RawBytes(next, until);
    }
    if (bytes > kMaxCellBytes) {
      return WithErrorInfo(
          absl::ResourceExhaustedError(absl::StrCat(
              "row ", next, " for table '", options_.table, "' has ", bytes,
              " bytes: the limit is ", kMaxCellBytes, " bytes")),
          {.table = options_.table,
           .limit = absl::StrCat(kMaxCellBytes),
           .actual = absl::StrCat(bytes)});
    }
    Ref<const Chunk> chunk = MakeChunk(next, until);
    new_bytes_ += chunk->bytes().size();
    new_chunks_.push_back(chunk);
    parts_.push_back({.begin = next, .end = until, .chunk = std::move(chunk)});
    next = until;
  }
  return absl::OkStatus();
}

absl::StatusOr<OutgoingItem> BulkLoad::NextItem() {
  const Episode& episode = episodes_[episode_];
  if (window_ == 0) {
    episode_id_ = RandomKey();
    for (const Part& part : parts_) old_chunks_.push_back(part.chunk->key());
    parts_.clear();
  }
  const int64_t begin = episode.begin + window_ * options_.stride;
  const int64_t end = begin + options_.length;
  REVERB_RETURN_IF_ERROR(Cover(begin, end));
  Trajectory trajectory;
  for (size_t column = 0; column < columns_.size(); ++column) {
    for (const Part& part : parts_) {
      if (part.begin >= end) break;
      const int64_t from = std::max(begin, part.begin);
      const int64_t to = std::min(end, part.end);
      trajectory.Add({.chunk = part.chunk,
                      .offset = static_cast<int32_t>(from - part.begin),
                      .length = static_cast<int32_t>(to - from),
                      .index = static_cast<int32_t>(column),
                      .ends_column = to == end});
    }
  }
  const size_t number = static_cast<size_t>(num_appended_++);
  if (++window_ == episode.num_windows) {
    ++episode_;
    window_ = 0;
  }
  return OutgoingItem{
      .table = options_.table,
      .priority = priorities_[priorities_.size() == 1 ? 0 : number],
      .item =
          MakeRef<Item>(RandomKey(), std::move(trajectory), options_.structure),
      .charged_bytes = std::exchange(new_bytes_, 0)};
}

absl::Status BulkLoad::AppendSome() {
  std::vector<OutgoingItem> items;
  size_t bytes = 0;
  while (episode_ < episodes_.size() && bytes < kBatchBytes &&
         static_cast<int64_t>(items.size()) < kBatchItems) {
    REVERB_ASSIGN_OR_RETURN(OutgoingItem item, NextItem());
    bytes += item.charged_bytes;
    items.push_back(std::move(item));
  }
  // Kept for later items before these are sent, let go when these are queued.
  stream_->UpdateKept(std::exchange(new_chunks_, {}), {});
  REVERB_RETURN_IF_ERROR(
      stream_->Append(std::move(items), options_.deadline, options_.try_once));
  stream_->UpdateKept({}, std::exchange(old_chunks_, {}));
  return absl::OkStatus();
}

int64_t BulkLoad::CountInserted() {
  // In this order: what is refused in between is not counted as inserted.
  const int64_t pending = stream_->num_pending();
  num_refused_ += static_cast<int64_t>(stream_->TakeRefused().size());
  return num_appended_ - pending - num_refused_;
}

absl::StatusOr<bool> BulkLoad::Advance(const WaitOptions& wait) {
  while (true) {
    const bool all_appended = episode_ == episodes_.size();
    int64_t allowed = 0;
    if (!all_appended) {
      REVERB_RETURN_IF_ERROR(AppendSome());
      const int64_t pending = stream_->num_pending();
      const bool full = pending > kMaxPendingItems ||
                        stream_->pending_bytes() > kMaxPendingBytes;
      allowed = full ? pending * 3 / 4 : pending;
    }
    WaitOptions until = wait;
    until.deadline = std::min(
        wait.deadline, options_.try_once ? give_up_at_ : options_.deadline);
    absl::Status status = stream_->AwaitPending(allowed, until);
    const SteadyTime now = Clock::Real().Now();
    const int64_t inserted = CountInserted();
    if (inserted > std::exchange(last_inserted_, inserted)) {
      give_up_at_ = now + kAnswerGrace;
    }
    if (!status.ok() && !absl::IsDeadlineExceeded(status)) return status;
    if (num_refused_ > 0) return Fail(wait);
    if (status.ok()) {
      if (all_appended) return true;
      if (now < wait.deadline) continue;
      return false;
    }
    if (now < until.deadline || now < wait.deadline) return Fail(wait);
    return false;
  }
}

absl::Status BulkLoad::Fail(const WaitOptions& wait) {
  // What became of those that wait no longer?
  WaitOptions until = wait;
  until.deadline = Clock::Real().Now() + kAnswerGrace;
  absl::Status status = stream_->AwaitPending(0, until);
  if (!status.ok() && !absl::IsDeadlineExceeded(status)) return status;
  const int64_t inserted = CountInserted();
  std::string text =
      absl::StrCat("Timeout exceeded: table '", options_.table, "' has taken ",
                   inserted, " of ", num_items_, " items.");
  if (const int64_t unknown = stream_->num_pending(); unknown > 0) {
    absl::StrAppend(&text, " ", unknown, " more may be inserted later.");
  }
  return WithErrorInfo(absl::DeadlineExceededError(text),
                       {.table = options_.table,
                        .limit = absl::StrCat(num_items_),
                        .actual = absl::StrCat(inserted)});
}

}  // namespace reverb
