// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A table's items with their selectors, limiter and counters: what one insert,
// sample, update, delete or reset changes.
//
// Semantics are those of spec/api.md 8.2 to 8.8. Nothing waits here: callers
// ask the limiter first. What leaves the table is put into `Discarded`, for
// the caller to free when it has unlocked.
//
// Threads: thread-compatible. `Table` guards its instance.

#ifndef REVERB_CC_TABLE_CONTENTS_H_
#define REVERB_CC_TABLE_CONTENTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/data/item.h"
#include "reverb/cc/selectors/selector.h"
#include "reverb/cc/support/ref.h"
#include "reverb/cc/table/episode_counts.h"
#include "reverb/cc/table/item_store.h"
#include "reverb/cc/table/rate_limiter.h"
#include "reverb/cc/table/requests.h"
#include "reverb/cc/table/table_options.h"

namespace reverb {

// An insert that has been prepared as far as it can be without the table.
struct NewItem {
  explicit NewItem(InsertRequest request);

  Ref<Item> item;
  double priority;
  uint32_t chunk_bytes;  // as in StoredItem
  uint64_t tag;          // as in InsertRequest
};

// What has left a table.
struct Discarded {
  std::vector<Ref<Item>> items;
  std::vector<ItemStore> stores;
  std::vector<EpisodeCounts> episodes;
};

class TableContents {
 public:
  // `options` must outlive it. InvalidArgument that names the value if one is
  // out of its range.
  static absl::StatusOr<std::unique_ptr<TableContents>> Create(
      const TableOptions& options);

  // OK if the selectors can hold items of these priorities, all of them, in
  // addition to those there are; else InvalidArgument that names the table.
  absl::Status CanHold(absl::Span<const double> priorities) const;

  // Requires limiter().CanInsert(1). Updates the priority if the key is there;
  // else inserts, then evicts what the remover picks, maybe the new item, if
  // there are too many. The error is that of `CanHold`; nothing has changed.
  absl::Status Insert(NewItem item, int64_t wall_nanos, Discarded& discarded);

  bool CanSample() const { return store_.size() > 0 && limiter_.CanSample(1); }

  // Samples while the limiter allows it, at most `count` (1 to 64) times and
  // until `bytes`, to which it adds the chunk bytes of each, has reached
  // `max_bytes`; returns how many. At least one if `CanSample`.
  int Sample(int count, size_t max_bytes, bool rate_limited,
             std::vector<struct Sample>& samples, size_t& bytes,
             Discarded& discarded);

  // Each ignores unknown keys. `Update` requires CanHold.
  void Update(ItemKey key, double priority);
  void Delete(ItemKey key, Discarded& discarded);
  void Reset(Discarded& discarded);

  const RateLimiter& limiter() const { return limiter_; }
  int64_t size() const { return static_cast<int64_t>(store_.size()); }
  const EpisodeCounts& episodes() const { return episodes_; }
  int64_t num_unique_samples() const { return num_unique_samples_; }

 private:
  TableContents(const TableOptions& options, std::unique_ptr<Selector> sampler,
                std::unique_ptr<Selector> remover, RateLimiter limiter);

  int SampleWithoutRemoving(int count, size_t max_bytes, bool rate_limited,
                            std::vector<struct Sample>& samples, size_t& bytes);
  // Counts one sample of an item and describes it.
  void TakeSample(const Selector::Draw& draw, bool rate_limited,
                  std::vector<struct Sample>& samples, size_t& bytes);
  void UpdateSlot(Slot slot, double priority);
  void DeleteSlot(Slot slot, Discarded& discarded);

  const TableOptions& options_;
  const std::unique_ptr<Selector> sampler_;
  const std::unique_ptr<Selector> remover_;
  RateLimiter limiter_;
  ItemStore store_;
  EpisodeCounts episodes_;
  int64_t num_unique_samples_ = 0;
  int64_t last_inserted_at_ = 0;  // nanoseconds
  uint32_t max_chunk_bytes_ = 0;  // no item since the last reset has more
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_CONTENTS_H_
