// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What the streams of the service have in common: at most one read and one
// write in flight, and everything decided in turns.
//
// gRPC's reactions and the session's reports only note what happened and
// schedule a turn. Turns of a stream never overlap, so they alone hold its
// state, without a lock, and start whatever is started.
//
// States of a stream:
//   open       reads and writes
//   ending     `End` was called: waits for the write in flight, if any
//   ended      gRPC's Finish was called: nothing is started any more
// then gRPC calls OnDone and lets go of the reactor. A turn that comes later
// finds it ended.

#ifndef REVERB_CC_SERVICE_STREAM_REACTOR_H_
#define REVERB_CC_SERVICE_STREAM_REACTOR_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/engine/session.h"
#include "reverb/cc/engine/session_turn.h"
#include "reverb/cc/service/call_metadata.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

class StreamReactor : public grpc::ServerGenericBidiReactor,
                      public SessionListener,
                      public SessionTurn {
 public:
  StreamReactor(const ServerCore& core, grpc::CallbackServerContext* context)
      : metadata_(core, context) {}

  // Hands `reactor` to gRPC, which owns it until OnDone, and runs its first
  // turn.
  static grpc::ServerGenericBidiReactor* Launch(
      std::shared_ptr<StreamReactor> reactor);

  void OnProgress() final { Schedule(); }
  void OnReadDone(bool ok) final;
  void OnWriteDone(bool ok) final;
  void OnCancel() final;
  void OnDone() final;

 protected:
  // One turn of an open stream. The first one comes right after `Launch`.
  virtual void Step() = 0;
  // The stream is over, or its client has gone.
  virtual void CloseSession() = 0;

  // The rest is for `Step` alone.

  // Starts a read unless one is in flight or the client has half-closed.
  void Read();
  // Moves the message that was read since the last turn, if any, to `message`.
  bool TakeMessage(grpc::ByteBuffer& message);
  // The client will send no more.
  bool half_closed() const { return half_closed_; }

  // Requires !writing().
  void Write(grpc::ByteBuffer message);
  bool writing() const { return writing_; }

  // Ends the stream with `status` once the write in flight is done.
  void End(const absl::Status& status);

 private:
  struct Events {
    bool read_done = false;
    bool read_ok = false;
    bool write_done = false;
    bool write_ok = false;
    bool cancelled = false;
  };

  void RunTurn() final;
  void NoteEvents(const Events& events);

  Mutex mu_;
  Events events_ ABSL_GUARDED_BY(mu_);

  // gRPC's reference.
  std::shared_ptr<StreamReactor> self_;

  // Of the turns.
  CallMetadata metadata_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  bool reading_ = false;
  bool writing_ = false;
  bool has_message_ = false;
  bool half_closed_ = false;
  std::optional<absl::Status> ending_;
  bool ended_ = false;
};

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_STREAM_REACTOR_H_
