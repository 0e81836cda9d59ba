// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// One conversation with one server, under an `InsertStream` that outlives it.
//
// The stream prepares a batch under its lock and sends it without; the
// connection then says when it can take the next one. What is not confirmed
// when a connection ends, the stream gives to the next one.
//
// Threads: calls marked "locked" are made under the stream's lock, which
// guards what they use; `Send` by one thread at a time; others by any.

#ifndef REVERB_CC_CLIENT_INSERT_CONNECTION_H_
#define REVERB_CC_CLIENT_INSERT_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

// An item in the stream's window.
struct WindowItem {
  OutgoingItem outgoing;
  uint64_t sequence = 0;  // of the stream's items
  SteadyTime limit = kNoDeadline;
  bool try_once = false;
  bool sent = false;
  bool limited = false;
  bool done = false;  // confirmed or refused, behind one that is not
  bool has_limit() const { return try_once || limit != kNoDeadline; }
};

class InsertConnection {
 public:
  // Hears of the connection, on any thread without locks, possibly within
  // `Start`, `Send` or `Poll`.
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void OnConnected(const InsertConnection* connection) = 0;
    // Another batch may be prepared.
    virtual void OnReady(const InsertConnection* connection) = 0;
    // What `Prepare` held back may go now.
    virtual void OnUnblocked() = 0;
    virtual void OnDone(InsertDone done) = 0;
    // `Poll` has something to do.
    virtual void OnProgress(const InsertConnection* connection) = 0;
    // The last call; OK if the peer ended the stream without an error.
    virtual void OnEnded(const InsertConnection* connection,
                         absl::Status status) = 0;
  };

  virtual ~InsertConnection() = default;

  // Once, first.
  virtual void Start(std::weak_ptr<Sink> sink) = 0;

  // Locked: an item has entered the window; later items may refer to the
  // chunks `added` too, and no longer to those `removed`.
  virtual void OnQueued(const Item& item) = 0;
  virtual void OnKeep(absl::Span<const ChunkKey> added,
                      absl::Span<const ChunkKey> removed) = 0;

  // Locked: makes a batch of the window's items from `begin` on, before `end`.
  struct Prepared {
    size_t num_items = 0;  // of the window, those that are done included
    bool to_send = false;  // `Send` has something to do
  };
  virtual Prepared Prepare(std::deque<WindowItem>& window, size_t begin,
                           size_t end) = 0;

  // Sends the batch; `OnReady` follows unless the connection ends.
  virtual void Send() = 0;

  virtual void Poll() {}
  // Ends the conversation. Idempotent.
  virtual void Close() = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_INSERT_CONNECTION_H_
