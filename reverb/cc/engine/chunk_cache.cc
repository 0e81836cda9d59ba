// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/chunk_cache.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/error_info.h"

namespace reverb {
namespace {

// A larger one isn't held without an item.
constexpr size_t kMaxKeptExtra = 64 * 1024;

int64_t SizeOf(const Chunk& chunk) {
  return static_cast<int64_t>(chunk.bytes().size());
}

absl::Status SliceError(const ItemMessage& item, int column,
                        const std::string& what) {
  return WithErrorInfo(absl::InvalidArgumentError(absl::StrCat(
                           "item ", item.key, " of table '", item.table,
                           "', column ", column, ": ", what)),
                       {.table = item.table, .column = absl::StrCat(column)});
}

absl::Status CheckSlice(const ItemMessage& item, const SliceMessage& slice,
                        int column, const Chunk& chunk) {
  const auto rows_of = chunk.tensor_rows();
  if (slice.index < 0 || static_cast<size_t>(slice.index) >= rows_of.size()) {
    return SliceError(
        item, column,
        absl::StrCat("tensor ", slice.index, " of chunk ", slice.chunk_key,
                     ", which has ", rows_of.size()));
  }
  const int64_t rows = rows_of[slice.index];
  if (slice.offset < 0 || slice.length < 1 ||
      int64_t{slice.offset} + slice.length > rows) {
    return SliceError(item, column,
                      absl::StrCat("offset ", slice.offset, " and length ",
                                   slice.length, " in chunk ", slice.chunk_key,
                                   ", which has ", rows, " rows"));
  }
  return absl::OkStatus();
}

}  // namespace

void ChunkCache::Add(std::vector<Ref<const Chunk>> chunks) {
  for (Ref<const Chunk>& chunk : chunks) {
    const int64_t size = SizeOf(*chunk);
    Entry& entry = chunks_[chunk->key()];
    if (entry.chunk) continue;
    entry.chunk = std::move(chunk);
    bytes_ += size;
  }
}

absl::StatusOr<Ref<Item>> ChunkCache::Resolve(ItemMessage& item) {
  Trajectory trajectory;
  int column = 0;
  int64_t column_length = 0;
  const Chunk* last = nullptr;
  Ref<const Chunk> chunk;
  for (const SliceMessage& slice : item.slices) {
    // Neighbours mostly share their chunk.
    if (last == nullptr || last->key() != slice.chunk_key) {
      const auto it = chunks_.find(slice.chunk_key);
      if (it == chunks_.end()) {
        return absl::InternalError(absl::StrCat(
            "Could not find sequence chunk ", slice.chunk_key, ". Item ",
            item.key, " of table '", item.table,
            "' refers to it, but this stream has not sent or not kept it"));
      }
      chunk = it->second.chunk;
      last = chunk.get();
    }
    absl::Status status = CheckSlice(item, slice, column, *chunk);
    if (!status.ok()) return status;
    column_length += slice.length;
    if (slice.squeeze && column_length != 1) {
      return SliceError(item, column,
                        absl::StrCat("is squeezed and has ", column_length,
                                     " rows instead of one"));
    }
    trajectory.Add({.chunk = chunk,
                    .offset = slice.offset,
                    .length = slice.length,
                    .index = slice.index,
                    .ends_column = slice.ends_column,
                    .squeeze = slice.squeeze});
    if (slice.ends_column) {
      ++column;
      column_length = 0;
    }
  }
  return MakeRef<Item>(item.key, std::move(trajectory),
                       Share(std::move(item.extra)));
}

ChunkCache::SharedString ChunkCache::Share(std::string extra) {
  if (extra.empty()) return nullptr;
  for (const SharedString& known : extras_) {
    if (known != nullptr && *known == extra) return known;
  }
  auto shared = std::make_shared<const std::string>(std::move(extra));
  if (shared->size() <= kMaxKeptExtra) {
    extras_[oldest_extra_] = shared;
    oldest_extra_ = (oldest_extra_ + 1) % extras_.size();
  }
  return shared;
}

absl::Status ChunkCache::KeepOnly(absl::Span<const ChunkKey> keys,
                                  std::vector<Ref<const Chunk>>& dropped) {
  ++num_keeps_;
  for (const ChunkKey key : keys) {
    const auto it = chunks_.find(key);
    if (it == chunks_.end() || it->second.kept_by == num_keeps_) {
      return absl::FailedPreconditionError(absl::StrCat(
          "keep_chunk_keys names chunk ", key,
          it == chunks_.end() ? ", which this stream has not sent or not kept"
                              : " more than once"));
    }
    it->second.kept_by = num_keeps_;
  }
  if (keys.size() == chunks_.size()) return absl::OkStatus();
  absl::erase_if(chunks_, [&](auto& entry) {
    if (entry.second.kept_by == num_keeps_) return false;
    bytes_ -= SizeOf(*entry.second.chunk);
    dropped.push_back(std::move(entry.second.chunk));
    return true;
  });
  return absl::OkStatus();
}

absl::Status ChunkCache::CheckSize() {
  if (bytes_ <= recount_at_) return absl::OkStatus();
  int64_t alone = 0;
  for (const auto& [key, entry] : chunks_) {
    if (entry.chunk->IsUnique()) alone += SizeOf(*entry.chunk);
  }
  if (alone > max_bytes_) {
    return WithErrorInfo(
        absl::ResourceExhaustedError(absl::StrCat(
            "this stream has sent chunks of ", alone,
            " bytes that no item refers to; the limit is ", max_bytes_)),
        {.limit = absl::StrCat(max_bytes_), .actual = absl::StrCat(alone)});
  }
  // By then the bytes held alone may have reached the limit. The floor keeps
  // the scans few.
  recount_at_ = std::max(max_bytes_,
                         bytes_ + std::max(max_bytes_ - alone, max_bytes_ / 8));
  return absl::OkStatus();
}

}  // namespace reverb
