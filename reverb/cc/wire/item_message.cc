// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/item_message.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/field_reader.h"

namespace reverb::wire {
namespace {

absl::Status MergeTimestamp(absl::string_view bytes, ItemState& state) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        state.inserted_at_seconds = in.int64();
        break;
      case Tag(2, kVarint):
        state.inserted_at_nanos = in.int32();
        break;
    }
  }
  return in.status("Timestamp");
}

// ---- writing

size_t SliceSize(const ChunkSlice& slice) {
  return NumberSize(1, slice.chunk->key()) +
         NumberSize(2, SignedVarint(slice.offset)) +
         NumberSize(3, SignedVarint(slice.length)) +
         NumberSize(4, SignedVarint(slice.index));
}

size_t ColumnSize(absl::Span<const ChunkSlice> column) {
  size_t size = NumberSize(2, column.back().squeeze);
  for (const ChunkSlice& slice : column) {
    size += MessageSize(1, SliceSize(slice));
  }
  return size;
}

size_t TrajectorySize(const Item& item) {
  size_t size = item.extra().size();
  item.trajectory().ForEachColumn([&size](absl::Span<const ChunkSlice> column) {
    size += MessageSize(1, ColumnSize(column));
  });
  return size;
}

size_t TimestampSize(const ItemState& state) {
  return NumberSize(1, SignedVarint(state.inserted_at_seconds)) +
         NumberSize(2, SignedVarint(state.inserted_at_nanos));
}

void WriteColumn(absl::Span<const ChunkSlice> column, FieldWriter& out) {
  out.Begin(1, ColumnSize(column));
  for (const ChunkSlice& slice : column) {
    out.Begin(1, SliceSize(slice));
    out.Number(1, slice.chunk->key());
    out.Number(2, SignedVarint(slice.offset));
    out.Number(3, SignedVarint(slice.length));
    out.Number(4, SignedVarint(slice.index));
  }
  out.Number(2, column.back().squeeze);
}

}  // namespace

absl::Status ItemParser::Merge(absl::string_view bytes) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        item_.key = in.varint();
        break;
      case Tag(2, kBytes):
        REVERB_RETURN_IF_ERROR(
            ReadString(in, "the name of its table", item_.table));
        break;
      case Tag(5, kFixed64):
        item_.priority = in.float64();
        break;
      case Tag(6, kVarint):
        if (state_ != nullptr) state_->times_sampled = in.int32();
        break;
      case Tag(7, kBytes):
        if (state_ != nullptr) {
          REVERB_RETURN_IF_ERROR(MergeTimestamp(in.bytes(), *state_));
        }
        break;
      case Tag(8, kBytes):
        REVERB_RETURN_IF_ERROR(MergeTrajectory(in.bytes()));
        break;
    }
  }
  return in.status("PrioritizedItem");
}

absl::Status ItemParser::MergeTrajectory(absl::string_view bytes) {
  // Counting first costs little and saves the growing of the list, whose
  // columns nearly always have one slice.
  int64_t columns = 0;
  FieldReader count(bytes);
  while (count.Next()) {
    if (count.tag() == Tag(1, kBytes)) ++columns;
  }
  REVERB_RETURN_IF_ERROR(count.status("FlatTrajectory"));
  num_columns_ += columns;
  if (num_columns_ > limits_.max_columns) {
    return LimitError("columns in one item", limits_.max_columns, num_columns_);
  }
  item_.slices.reserve(item_.slices.size() + static_cast<size_t>(columns));

  FieldReader in(bytes);
  while (in.Next()) {
    if (in.tag() == Tag(1, kBytes)) {
      REVERB_RETURN_IF_ERROR(AddColumn(in.bytes()));
    } else {
      item_.extra.append(in.raw().data(), in.raw().size());
    }
  }
  return absl::OkStatus();
}

absl::Status ItemParser::AddColumn(absl::string_view bytes) {
  const size_t begin = item_.slices.size();
  bool squeeze = false;
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        REVERB_RETURN_IF_ERROR(AddSlice(in.bytes()));
        break;
      case Tag(2, kVarint):
        squeeze = in.boolean();
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("FlatTrajectory.Column"));
  if (item_.slices.size() == begin) {
    item_.has_empty_column = true;
    return absl::OkStatus();
  }
  item_.slices.back().ends_column = true;
  item_.slices.back().squeeze = squeeze;
  return absl::OkStatus();
}

absl::Status ItemParser::AddSlice(absl::string_view bytes) {
  const int64_t count = static_cast<int64_t>(item_.slices.size()) + 1;
  if (count > limits_.max_slices_per_item) {
    return LimitError("chunk slices in one item", limits_.max_slices_per_item,
                      count);
  }
  SliceMessage slice;
  slice.ends_column = false;
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        slice.chunk_key = in.varint();
        break;
      case Tag(2, kVarint):
        slice.offset = in.int32();
        break;
      case Tag(3, kVarint):
        slice.length = in.int32();
        break;
      case Tag(4, kVarint):
        slice.index = in.int32();
        break;
    }
  }
  item_.slices.push_back(slice);
  return in.status("FlatTrajectory.ChunkSlice");
}

size_t ItemSize(const ItemFields& fields) {
  size_t size = NumberSize(1, fields.item.key()) + StringSize(2, fields.table) +
                DoubleSize(5, fields.priority) +
                MessageSize(8, TrajectorySize(fields.item));
  if (fields.state != nullptr) {
    size += NumberSize(6, SignedVarint(fields.state->times_sampled)) +
            MessageSize(7, TimestampSize(*fields.state));
  }
  return size;
}

void WriteItem(const ItemFields& fields, FieldWriter& out) {
  out.Number(1, fields.item.key());
  out.String(2, fields.table);
  out.Double(5, fields.priority);
  if (fields.state != nullptr) {
    out.Number(6, SignedVarint(fields.state->times_sampled));
    out.Begin(7, TimestampSize(*fields.state));
    out.Number(1, SignedVarint(fields.state->inserted_at_seconds));
    out.Number(2, SignedVarint(fields.state->inserted_at_nanos));
  }
  out.Begin(8, TrajectorySize(fields.item));
  fields.item.trajectory().ForEachColumn(
      [&out](absl::Span<const ChunkSlice> column) {
        WriteColumn(column, out);
      });
  out.Raw(fields.item.extra());
}

absl::Status LimitError(absl::string_view what, int64_t limit, int64_t actual) {
  ErrorInfo info;
  info.limit = absl::StrCat(limit);
  info.actual = absl::StrCat(actual);
  return WithErrorInfo(
      absl::ResourceExhaustedError(absl::StrCat("too many ", what, ": ", actual,
                                                ", of at most ", limit)),
      info);
}

absl::Status Annotate(absl::Status status, absl::string_view prefix) {
  if (status.ok()) return status;
  absl::Status result(status.code(),
                      absl::StrCat(prefix, ": ", status.message()));
  status.ForEachPayload(
      [&result](absl::string_view url, const absl::Cord& payload) {
        result.SetPayload(url, payload);
      });
  return result;
}

}  // namespace reverb::wire
