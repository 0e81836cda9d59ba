// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A client's conversation with the server core, without any transport.
//
// A transport (gRPC, in-process, later shared memory) feeds a session with
// parsed messages and takes out what is to be sent, at its own pace. When
// there is something new to take, or room again, the session calls
// `OnProgress` on its listener: on any thread, without locks held, possibly
// within a call of the session itself. The listener only notes it or schedules
// its turn.
//
// Threads: thread-safe. `Close` may be called from anywhere and more than
// once; after it returned, the listener may still be in a call that had begun,
// and is kept alive by its shared_ptr.

#ifndef REVERB_CC_ENGINE_SESSION_H_
#define REVERB_CC_ENGINE_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/data/item.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

class SessionListener {
 public:
  virtual ~SessionListener() = default;
  virtual void OnProgress() = 0;
};

class InsertSession {
 public:
  virtual ~InsertSession() = default;

  // Takes one message: checks it whole, then queues its items (spec/wire.md
  // 7.1, with the checks of section 16.2 that headers allow). An error ends
  // the session: nothing of this message was queued, and `status` keeps the
  // error.
  virtual absl::Status Submit(InsertMessage message) = 0;

  // As `Submit` for a client of this process whose items already refer to
  // their chunks.
  struct LocalItem {
    std::string table;
    double priority = 0;
    Ref<Item> item;
  };
  virtual absl::Status SubmitLocal(std::vector<LocalItem> items,
                                   SteadyTime deadline, bool try_once) = 0;

  // Whether the transport should read on: false while a table of the last
  // message has too many inserts waiting; `OnProgress` says when to ask again.
  virtual bool ReadyForMore() = 0;

  // Takes the keys confirmed, and those withdrawn because their wait ended,
  // since the last call.
  virtual InsertDone TakeDone() = 0;

  // Items queued and neither confirmed, refused nor failed.
  virtual int64_t num_pending() = 0;

  // OK while all is well; else why the session is over.
  virtual absl::Status status() = 0;

  // The stream is gone; a transport calls it in any case. Queued inserts stay
  // queued, as in 0.14; `withdraw` takes them back instead, and so does a
  // stream that continues a session.
  virtual void Close(bool withdraw) = 0;
};

class SampleSession {
 public:
  virtual ~SampleSession() = default;

  // Begins to serve a request. Requires that the last one is complete, that
  // is `Take` has returned all its samples: a transport reads the next message
  // only then. An error ends the session.
  virtual absl::Status Request(const SampleMessage& message) = 0;

  // Moves out the samples that are ready (possibly none) and lets the session
  // ask the table for more. What it holds ready is bounded by `Take`s: it asks
  // for the next batch only when less than 4 MiB or so waits to be taken.
  virtual std::vector<Sample> Take() = 0;

  // Whether every sample of the last request has been taken.
  virtual bool RequestIsComplete() = 0;

  // OK while all is well; else why the session is over, after the samples that
  // are ready have been taken.
  virtual absl::Status status() = 0;

  // The stream is gone: withdraws what waits in the table.
  virtual void Close() = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_SESSION_H_
