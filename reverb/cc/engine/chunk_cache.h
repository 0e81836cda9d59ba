// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The chunks that one insert stream has sent and may still refer to, and the
// check of its items against them.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_ENGINE_CHUNK_CACHE_H_
#define REVERB_CC_ENGINE_CHUNK_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/data/item.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

class ChunkCache {
 public:
  // `max_bytes`: of chunks that nothing but the cache refers to.
  explicit ChunkCache(int64_t max_bytes)
      : max_bytes_(max_bytes), recount_at_(max_bytes) {}

  // Of chunks with one key the first is kept.
  void Add(std::vector<Ref<const Chunk>> chunks);

  // `item` with its chunks. Internal if one isn't here; InvalidArgument, with
  // the column's number, if a slice isn't inside its tensor or a squeezed
  // column is longer than 1. Items without columns pass.
  absl::StatusOr<Ref<Item>> Resolve(ItemMessage& item);

  // Forgets all chunks but those named, which go to `dropped`, to be freed
  // without a lock. FailedPrecondition if `keys` names a chunk that isn't
  // here, or one twice. O(keys + chunks).
  absl::Status KeepOnly(absl::Span<const ChunkKey> keys,
                        std::vector<Ref<const Chunk>>& dropped);

  // ResourceExhausted if more than `max_bytes` are held by nothing else.
  absl::Status CheckSize();

 private:
  using SharedString = std::shared_ptr<const std::string>;

  // `extra`, shared with the items that came with the same before.
  SharedString Share(std::string extra);

  struct Entry {
    Ref<const Chunk> chunk;
    uint64_t kept_by = 0;  // the last `KeepOnly` that named it
  };

  const int64_t max_bytes_;
  absl::flat_hash_map<ChunkKey, Entry> chunks_;
  uint64_t num_keeps_ = 0;
  int64_t bytes_ = 0;  // of all chunks here
  // Counting what only the cache holds takes a scan, which is due when
  // `bytes_` has grown to this.
  int64_t recount_at_;
  // What the latest items had as `extra`: a stream's items have few nestings.
  std::array<SharedString, 4> extras_;
  size_t oldest_extra_ = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_CHUNK_CACHE_H_
