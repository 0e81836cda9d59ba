// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The service's messages as plain records, without their encoding.

#ifndef REVERB_CC_WIRE_RECORDS_H_
#define REVERB_CC_WIRE_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reverb/cc/data/item.h"
#include "reverb/cc/table/table.h"

namespace reverb {

// Identifies the state of a server's tables; clients that see another one
// refresh their signatures.
struct StateId {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const StateId&, const StateId&) = default;
};

// One slice of an item as it came in: by chunk key, not yet resolved.
struct SliceMessage {
  ChunkKey chunk_key = 0;
  int32_t offset = 0;
  int32_t length = 0;
  int32_t index = 0;
  bool ends_column = true;
  bool squeeze = false;
};

struct ItemMessage {
  ItemKey key = 0;
  std::string table;
  double priority = 0;
  std::vector<SliceMessage> slices;
  bool has_empty_column = false;  // refused; kept for the error text
  std::string extra;              // unread fields of FlatTrajectory
};

// InsertStreamRequest.
struct InsertMessage {
  std::vector<Ref<const Chunk>> chunks;
  std::vector<ItemMessage> items;
  std::vector<ChunkKey> keep_chunk_keys;
  // Feature `session`: the numbers of `items`, one each. Else empty.
  std::vector<uint64_t> item_seqs;
  // `wait`: how long the items of this message may wait for the limiter.
  // None: for ever. 0: try once.
  std::optional<int64_t> wait_ms;
};

// InsertStreamResponse: keys confirmed, and keys withdrawn because their wait
// ended.
struct InsertDone {
  std::vector<ItemKey> confirmed;
  std::vector<ItemKey> refused;
  bool empty() const { return confirmed.empty() && refused.empty(); }
};

// SampleStreamRequest.
struct SampleMessage {
  std::string table;
  int64_t num_samples = 0;            // 1 .. 2^31 - 1, else InvalidArgument
  std::optional<int64_t> timeout_ms;  // none, 0 or negative: for ever
  bool try_once = false;
};

// MutatePrioritiesRequest.
struct MutateMessage {
  std::string table;
  std::vector<PriorityUpdate> updates;
  std::vector<ItemKey> deletes;
};

// ServerInfoResponse, as far as clients read it in C++.
struct ServerInfoMessage {
  struct TableEntry {
    std::string name;
    std::string signature;  // a serialized StructuredValue; empty: none
    int32_t max_times_sampled = 0;
    std::string bytes;  // the whole TableInfo message, for Python
  };
  StateId state_id;
  std::vector<TableEntry> tables;
};

}  // namespace reverb

#endif  // REVERB_CC_WIRE_RECORDS_H_
