// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Which chunks the peer of one insert stream holds, and which to keep there.
//
// The server's cache after a message is exactly what the message's keep list
// says: chunks it has been sent that unsent items or later ones need.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_CLIENT_CHUNK_LEDGER_H_
#define REVERB_CC_CLIENT_CHUNK_LEDGER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/data/item.h"

namespace reverb {

class ChunkLedger {
 public:
  // An item is going to be sent.
  void AddUses(const Item& item);
  // One of its chunks has been dealt with, by `MarkSent` or before.
  void DropUse(ChunkKey key);

  // Items not yet made may use the chunk; or no longer.
  void Keep(ChunkKey key);
  void Release(ChunkKey key);

  bool IsSent(ChunkKey key) const;
  void MarkSent(ChunkKey key);

  // The keep list of a message with items, as of now; forgets the others that
  // were sent.
  std::vector<ChunkKey> KeepList();

 private:
  struct State {
    int64_t uses = 0;  // by items not yet sent
    bool kept = false;
    bool sent = false;
  };
  absl::flat_hash_map<ChunkKey, State> chunks_;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_CHUNK_LEDGER_H_
