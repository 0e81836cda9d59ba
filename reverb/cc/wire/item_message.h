// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// PrioritizedItem, in both directions.

#ifndef REVERB_CC_WIRE_ITEM_MESSAGE_H_
#define REVERB_CC_WIRE_ITEM_MESSAGE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/data/item.h"
#include "reverb/cc/wire/field_writer.h"
#include "reverb/cc/wire/limits.h"
#include "reverb/cc/wire/records.h"

namespace reverb::wire {

// Fields of a PrioritizedItem that a server fills in.
struct ItemState {
  int32_t times_sampled = 0;
  int64_t inserted_at_seconds = 0;
  int32_t inserted_at_nanos = 0;
};

// Reads one PrioritizedItem into records.
class ItemParser {
 public:
  // All outlive the parser. `state` may be null: not read.
  ItemParser(const Limits& limits, ItemMessage& item, ItemState* state)
      : limits_(limits), item_(item), state_(state) {}

  // Adds the message `bytes`; a further call merges, as protobuf does when a
  // field of a message type is repeated.
  absl::Status Merge(absl::string_view bytes);

 private:
  absl::Status MergeTrajectory(absl::string_view bytes);
  absl::Status AddColumn(absl::string_view bytes);
  absl::Status AddSlice(absl::string_view bytes);

  const Limits& limits_;
  ItemMessage& item_;
  ItemState* const state_;
  int64_t num_columns_ = 0;
};

// What a PrioritizedItem is written from.
struct ItemFields {
  const Item& item;
  absl::string_view table;
  double priority = 0;
  const ItemState* state = nullptr;  // null: as clients send it
};

// Bytes of the message; O(slices).
size_t ItemSize(const ItemFields& fields);
// Writes exactly ItemSize(fields) bytes.
void WriteItem(const ItemFields& fields, FieldWriter& out);

// ResourceExhausted that carries both numbers as ErrorInfo; `what` is "items
// in one message".
absl::Status LimitError(absl::string_view what, int64_t limit, int64_t actual);

// `status` with "`prefix`: " before its text, payloads kept.
absl::Status Annotate(absl::Status status, absl::string_view prefix);

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_ITEM_MESSAGE_H_
