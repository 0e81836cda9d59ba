// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a table stores: a key and, per column, the chunk slices of its data.
//
// Priority and times_sampled change and belong to the table; an Item is what
// stays, so a sample can hold on to it after the table has let it go.

#ifndef REVERB_CC_DATA_ITEM_H_
#define REVERB_CC_DATA_ITEM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/support/ref.h"

namespace reverb {

using ItemKey = uint64_t;

// Rows `[offset, offset + length)` of tensor `index` of `chunk`.
struct ChunkSlice {
  Ref<const Chunk> chunk;
  int32_t offset = 0;
  int32_t length = 0;  // >= 1
  int32_t index = 0;
  bool ends_column = true;  // the next slice begins another column
  bool squeeze = false;     // set on a column's last slice: drop the time axis
};

// Per column the slices that make it up, in one flat list. Every column has
// at least one slice; the last slice of each has `ends_column`.
class Trajectory {
 public:
  void Add(ChunkSlice slice) { slices_.push_back(std::move(slice)); }

  absl::Span<const ChunkSlice> slices() const { return slices_; }
  // O(slices).
  int num_columns() const;

  // Calls `fn(absl::Span<const ChunkSlice> column)` for every column in order.
  template <typename Fn>
  void ForEachColumn(Fn&& fn) const {
    size_t begin = 0;
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (!slices_[i].ends_column) continue;
      fn(absl::MakeConstSpan(slices_).subspan(begin, i + 1 - begin));
      begin = i + 1;
    }
  }
  // Calls `fn(const Ref<const Chunk>&)` once per distinct chunk, in order of
  // first appearance.
  template <typename Fn>
  void ForEachChunk(Fn&& fn) const;

 private:
  absl::InlinedVector<ChunkSlice, 1> slices_;
};

class Item : public RefCounted<Item> {
 public:
  Item(ItemKey key, Trajectory trajectory,
       std::shared_ptr<const std::string> extra = nullptr)
      : key_(key),
        trajectory_(std::move(trajectory)),
        extra_(std::move(extra)) {}

  ItemKey key() const { return key_; }
  const Trajectory& trajectory() const { return trajectory_; }
  // Fields of the FlatTrajectory message that only readers know, as bytes to be
  // sent back with it: mostly the item's `structure` (wire/structure.h). Items
  // share the string where theirs are equal.
  absl::string_view extra() const {
    return extra_ == nullptr ? absl::string_view() : *extra_;
  }

  // Nanoseconds since the epoch; set once by the table, before anybody else
  // can see the item.
  int64_t inserted_at_nanos() const { return inserted_at_nanos_; }
  void set_inserted_at_nanos(int64_t nanos) { inserted_at_nanos_ = nanos; }

 private:
  const ItemKey key_;
  int64_t inserted_at_nanos_ = 0;
  const Trajectory trajectory_;
  const std::shared_ptr<const std::string> extra_;
};

// One granted sample: the item and its numbers at that moment.
struct Sample {
  Ref<const Item> item;
  double probability = 0;
  double priority = 0;
  int64_t table_size = 0;     // items, this one included
  int32_t times_sampled = 0;  // this sample included
  bool rate_limited = false;  // it had to wait when it arrived
};

template <typename Fn>
void Trajectory::ForEachChunk(Fn&& fn) const {
  // Few slices: a search beats a set. Many: a search would be quadratic, and
  // how many there are is the client's choice.
  constexpr size_t kMaxSearched = 32;
  if (slices_.size() > kMaxSearched) {
    absl::flat_hash_set<const Chunk*> seen;
    for (const ChunkSlice& slice : slices_) {
      if (seen.insert(slice.chunk.get()).second) fn(slice.chunk);
    }
    return;
  }
  for (size_t i = 0; i < slices_.size(); ++i) {
    bool seen = false;
    for (size_t j = i; j > 0 && !seen; --j) {
      seen = slices_[j - 1].chunk == slices_[i].chunk;
    }
    if (!seen) fn(slices_[i].chunk);
  }
}

}  // namespace reverb

#endif  // REVERB_CC_DATA_ITEM_H_
