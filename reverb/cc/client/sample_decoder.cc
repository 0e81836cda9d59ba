// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/sample_decoder.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/data/decode.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/structure.h"

namespace reverb {

absl::StatusOr<SampleData> DecodeLocal(const Sample& sample) {
  const Item& item = *sample.item;
  SampleData data{.key = item.key(),
                  .probability = sample.probability,
                  .table_size = sample.table_size,
                  .priority = sample.priority,
                  .times_sampled = sample.times_sampled,
                  .rate_limited = sample.rate_limited};

  absl::flat_hash_map<const Chunk*, size_t> index;
  std::vector<ChunkView> views;
  absl::Status status;
  item.trajectory().ForEachChunk([&](const Ref<const Chunk>& chunk) {
    if (!status.ok()) return;
    auto view = wire::ParseChunkView(chunk->bytes());
    if (!view.ok()) {
      status = view.status();
      return;
    }
    index.emplace(chunk.get(), views.size());
    views.push_back(*std::move(view));
  });
  REVERB_RETURN_IF_ERROR(status);

  std::vector<ColumnView> columns;
  item.trajectory().ForEachColumn([&](absl::Span<const ChunkSlice> slices) {
    ColumnView& column = columns.emplace_back();
    column.slices.reserve(slices.size());
    for (const ChunkSlice& slice : slices) {
      column.slices.push_back({.chunk = &views[index.at(slice.chunk.get())],
                               .offset = slice.offset,
                               .length = slice.length,
                               .index = slice.index});
    }
    column.squeeze = slices.back().squeeze;
  });
  REVERB_ASSIGN_OR_RETURN(data.columns, DecodeSample(columns));
  data.structure = wire::FindStructure(item.extra());
  return data;
}

absl::Status SampleAssembler::Add(std::unique_ptr<Message> message) {
  REVERB_ASSIGN_OR_RETURN(std::vector<wire::SampleEntry> entries,
                          wire::ParseSampleResponse(message->bytes()));
  messages_.push_back({std::move(message), entries.size()});
  entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()),
                  std::make_move_iterator(entries.end()));
  return absl::OkStatus();
}

std::optional<absl::StatusOr<SampleData>> SampleAssembler::Next() {
  constexpr auto has_entries = [](const Received& received) {
    return received.entries_left > 0;
  };
  while (!entries_.empty()) {
    wire::SampleEntry entry = std::move(entries_.front());
    entries_.pop_front();
    // It is of the first message that has any left.
    --std::find_if(messages_.begin(), messages_.end(), has_entries)
          ->entries_left;
    if (entry.info) info_ = std::move(entry.info);
    chunks_.insert(chunks_.end(), entry.chunks.begin(), entry.chunks.end());
    if (!entry.end_of_sequence) continue;
    std::optional<absl::StatusOr<SampleData>> sample = Finish();
    info_.reset();
    chunks_.clear();
    messages_.erase(
        messages_.begin(),
        std::find_if(messages_.begin(), messages_.end(), has_entries));
    return sample;
  }
  return std::nullopt;
}

absl::StatusOr<SampleData> SampleAssembler::Finish() {
  if (!info_) {
    return absl::DataLossError("the server sent a sample without its item");
  }
  const ItemMessage& item = info_->item;
  SampleData data{.key = item.key,
                  .probability = info_->probability,
                  .table_size = info_->table_size,
                  .priority = item.priority,
                  .times_sampled = info_->times_sampled,
                  .rate_limited = info_->rate_limited};

  absl::flat_hash_map<ChunkKey, size_t> index;
  std::vector<ChunkView> views;
  views.reserve(chunks_.size());
  for (absl::string_view bytes : chunks_) {
    REVERB_ASSIGN_OR_RETURN(ChunkView view, wire::ParseChunkView(bytes));
    index[view.key] = views.size();  // a later duplicate replaces the first
    views.push_back(std::move(view));
  }

  std::vector<ColumnView> columns;
  bool begins_column = true;
  for (const SliceMessage& slice : item.slices) {
    const auto found = index.find(slice.chunk_key);
    if (found == index.end()) {
      return absl::DataLossError(absl::StrCat("the server did not send chunk ",
                                              slice.chunk_key, " of item ",
                                              item.key));
    }
    if (begins_column) columns.emplace_back();
    columns.back().slices.push_back({.chunk = &views[found->second],
                                     .offset = slice.offset,
                                     .length = slice.length,
                                     .index = slice.index});
    columns.back().squeeze = slice.squeeze;
    begins_column = slice.ends_column;
  }
  if (item.has_empty_column) {
    return absl::InvalidArgumentError(
        absl::StrCat("item ", item.key, " has a column without data"));
  }
  REVERB_ASSIGN_OR_RETURN(data.columns, DecodeSample(columns));
  data.structure = wire::FindStructure(item.extra);
  return data;
}

}  // namespace reverb
