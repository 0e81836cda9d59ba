// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Finds a table's items by key and by slot.
//
// Slots are dense and reused, newest free slot first; selectors name items by
// them.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_TABLE_ITEM_STORE_H_
#define REVERB_CC_TABLE_ITEM_STORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "reverb/cc/data/item.h"
#include "reverb/cc/selectors/selector.h"
#include "reverb/cc/support/ref.h"

namespace reverb {

// An item with what changes about it.
struct StoredItem {
  Ref<Item> item;
  double priority = 0;
  int32_t times_sampled = 0;
  uint32_t chunk_bytes = 0;  // of its distinct chunks; 4 GiB - 1 at most
};

class ItemStore {
 public:
  // Requires that its key is absent.
  Slot Add(StoredItem item);
  // Takes it out and frees the slot.
  StoredItem Remove(Slot slot);

  std::optional<Slot> Find(ItemKey key) const {
    const auto it = slots_.find(key);
    if (it == slots_.end()) return std::nullopt;
    return it->second;
  }
  StoredItem& operator[](Slot slot) { return items_[slot]; }
  const StoredItem& operator[](Slot slot) const { return items_[slot]; }

  size_t size() const { return slots_.size(); }

  // Calls `fn(const StoredItem&)` for every item, in no particular order.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (const StoredItem& item : items_) {
      if (item.item) fn(item);
    }
  }

 private:
  std::vector<StoredItem> items_;  // by slot; without an item where it is free
  std::vector<Slot> free_;
  absl::flat_hash_map<ItemKey, Slot> slots_;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_ITEM_STORE_H_
