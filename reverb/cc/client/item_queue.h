// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Items between their creation and the insert stream: they wait, in order,
// until the chunks that they need are complete.
//
// Threads: one thread, but for `Close`.

#ifndef REVERB_CC_CLIENT_ITEM_QUEUE_H_
#define REVERB_CC_CLIENT_ITEM_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/cells.h"
#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/client/step_history.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/data/item.h"
#include "reverb/cc/tensor/signature.h"

namespace reverb {

// Cells that become one column of an item.
struct ItemColumn {
  absl::Span<const CellRef> cells;
  bool squeeze = false;  // one cell, without a time dimension
};

// Whether an item can have `columns`: there is one at least and none is empty,
// no cell is missing or has expired, those of a column agree in dtype and
// shape. InvalidArgument that names the table and the column by its number.
absl::Status CheckItemColumns(absl::string_view table,
                              absl::Span<const ItemColumn> columns);

// Requires CheckItemColumns(...).ok(). InvalidArgument as `CheckStep`, with
// the whole signature.
absl::Status CheckItemSignature(absl::string_view table,
                                const Signature& signature,
                                absl::Span<const ItemColumn> columns);

class ItemQueue {
 public:
  // `max_pending_bytes`: of items that are not confirmed; none: no limit, but
  // a warning at 1 GiB.
  ItemQueue(std::shared_ptr<InsertStream> stream,
            std::optional<int64_t> max_pending_bytes);

  // ResourceExhausted if no more data may be taken, or the stream's permanent
  // error.
  absl::Status CheckRoom() const;

  // Queues an item; the columns have been checked. Returns its key.
  ItemKey Add(absl::string_view table, double priority,
              absl::Span<const ItemColumn> columns,
              std::shared_ptr<const std::string> structure);

  // Whether `Send` would send something.
  bool can_send() const;
  // Hands the items whose chunks are complete to the stream, in order; stops
  // at the first other one. `history`: of which later items are made.
  absl::Status Send(absl::Span<const std::shared_ptr<StepHistory>> histories);

  // Completes the chunks of all items but the newest `max_pending`.
  void CloseOldest(int64_t max_pending);
  // Waits until at most `max_pending` items are not confirmed.
  absl::Status Await(int64_t max_pending, const WaitOptions& wait);

  int64_t num_pending() const;  // queued or not confirmed
  absl::Status status() const { return stream_->status(); }
  const std::shared_ptr<InsertStream>& stream() const { return stream_; }
  // What is pending is given up. Any thread; wakes every waiter.
  void Close() { stream_->Close(); }

 private:
  struct Column {
    std::vector<CellRun> runs;
    bool squeeze = false;
  };
  struct Queued {
    ItemKey key = 0;
    std::string table;
    double priority = 0;
    std::vector<Column> columns;
    std::shared_ptr<const std::string> structure;
    size_t charged_bytes = 0;

    bool IsComplete() const;
  };

  // The item as it is sent. Chunks that later items may need are appended to
  // `kept`.
  static OutgoingItem ToOutgoing(Queued queued,
                                 std::vector<Ref<const Chunk>>& kept);
  int64_t pending_bytes() const;

  const std::shared_ptr<InsertStream> stream_;
  const std::optional<int64_t> max_pending_bytes_;
  std::deque<Queued> queued_;
  int64_t queued_bytes_ = 0;
  bool warned_ = false;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_ITEM_QUEUE_H_
