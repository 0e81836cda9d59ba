// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The insert-stream engine under every writer: items in, confirmations out.
//
// Keeps a window of unconfirmed items. Their chunks are sent once per stream,
// before the items that need them; when a stream breaks, a new one is opened
// and everything unconfirmed is sent again, in order. An item appended is
// never lost by a broken connection: it stays pending until it is confirmed,
// refused, or the stream is closed.
//
// No thread of its own: whoever appends sends, and what arrives is handled by
// the process's few I/O threads.
//
// Threads: `Append`, `UpdateKept` and `AwaitPending` are for one thread at a
// time, the others for any.

#ifndef REVERB_CC_CLIENT_INSERT_STREAM_H_
#define REVERB_CC_CLIENT_INSERT_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/client/wait.h"
#include "reverb/cc/data/item.h"

namespace reverb {

class Endpoint;

struct OutgoingItem {
  std::string table;
  double priority = 0;
  Ref<Item> item;            // its chunks are sealed
  size_t charged_bytes = 0;  // what it adds to `pending_bytes`
};

class InsertStream {
 public:
  virtual ~InsertStream() = default;

  // Queues items for sending. Never blocks; never fails for a lost
  // connection; a permanent error of the stream is returned.
  // `limit`: how long the items may wait for the rate limiter at the server
  // (0: try once); what still waits then is withdrawn (`refused`).
  virtual absl::Status Append(std::vector<OutgoingItem> items,
                              SteadyTime limit = kNoDeadline,
                              bool try_once = false) = 0;

  // Changes which chunks later items may still refer to (none at first); the
  // others are forgotten by the stream once nothing unconfirmed needs them.
  // `removed` comes before `added`; keys that aren't there are ignored.
  // O(added + removed).
  virtual void UpdateKept(absl::Span<const Ref<const Chunk>> added,
                          absl::Span<const ChunkKey> removed) = 0;

  // Waits until at most `max_pending` items are neither confirmed nor
  // refused. Unavailable when the server stayed away too long (the items stay
  // pending, a later call tries again).
  virtual absl::Status AwaitPending(int64_t max_pending,
                                    const WaitOptions& wait) = 0;
  virtual int64_t num_pending() const = 0;
  // The sum of their `charged_bytes`.
  virtual int64_t pending_bytes() const = 0;
  // Keys withdrawn by the server since the last call.
  virtual std::vector<ItemKey> TakeRefused() = 0;
  // The items still pending, in order.
  struct Pending {
    ItemKey key = 0;
    bool sent = false;     // a server may have it
    bool limited = false;  // sent to one that ends its wait at `limit`
  };
  virtual std::vector<Pending> PendingItems() const = 0;

  // Why there is no connection after there was one, or an attempt; else OK.
  virtual absl::Status last_loss() const = 0;

  // OK, or the permanent error.
  virtual absl::Status status() const = 0;

  // Ends the stream at once; what is pending is given up. Idempotent; wakes
  // every waiter (Cancelled).
  virtual void Close() = 0;

  // Opens no connection before there is something to send.
  static std::shared_ptr<InsertStream> Create(
      std::shared_ptr<Endpoint> endpoint);
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_INSERT_STREAM_H_
