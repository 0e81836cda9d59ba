// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/item_store.h"

#include <utility>

namespace reverb {

Slot ItemStore::Add(StoredItem item) {
  const ItemKey key = item.item->key();
  Slot slot;
  if (free_.empty()) {
    slot = static_cast<Slot>(items_.size());
    items_.push_back(std::move(item));
  } else {
    slot = free_.back();
    free_.pop_back();
    items_[slot] = std::move(item);
  }
  slots_.emplace(key, slot);
  return slot;
}

StoredItem ItemStore::Remove(Slot slot) {
  StoredItem item = std::move(items_[slot]);
  slots_.erase(item.item->key());
  free_.push_back(slot);
  return item;
}

}  // namespace reverb
