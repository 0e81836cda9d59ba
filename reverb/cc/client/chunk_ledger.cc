// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/chunk_ledger.h"

#include <vector>

namespace reverb {

void ChunkLedger::AddUses(const Item& item) {
  item.trajectory().ForEachChunk(
      [this](const Ref<const Chunk>& chunk) { ++chunks_[chunk->key()].uses; });
}

void ChunkLedger::DropUse(ChunkKey key) {
  const auto found = chunks_.find(key);
  if (found != chunks_.end() && found->second.uses > 0) --found->second.uses;
}

void ChunkLedger::Keep(ChunkKey key) { chunks_[key].kept = true; }

void ChunkLedger::Release(ChunkKey key) {
  const auto found = chunks_.find(key);
  if (found == chunks_.end()) return;
  State& state = found->second;
  state.kept = false;
  // One that was sent goes with the next keep list.
  if (state.uses == 0 && !state.sent) chunks_.erase(found);
}

bool ChunkLedger::IsSent(ChunkKey key) const {
  const auto found = chunks_.find(key);
  return found != chunks_.end() && found->second.sent;
}

void ChunkLedger::MarkSent(ChunkKey key) { chunks_[key].sent = true; }

std::vector<ChunkKey> ChunkLedger::KeepList() {
  std::vector<ChunkKey> keys;
  for (auto it = chunks_.begin(); it != chunks_.end();) {
    const State& state = it->second;
    const bool needed = state.kept || state.uses > 0;
    if (needed && state.sent) keys.push_back(it->first);
    if (needed) {
      ++it;
    } else {
      chunks_.erase(it++);
    }
  }
  return keys;
}

}  // namespace reverb
