// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/insert_stream_reactor.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"

#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/messages.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

InsertStreamReactor::InsertStreamReactor(std::shared_ptr<ServerCore> core,
                                         grpc::CallbackServerContext* context)
    : StreamReactor(*core, context), core_(std::move(core)) {}

void InsertStreamReactor::Step() {
  if (session_ == nullptr) {
    // Here, because the constructor has no weak_ptr to give.
    session_ =
        core_->OpenInsertSession(std::static_pointer_cast<SessionListener>(
            std::static_pointer_cast<StreamReactor>(shared_from_this())));
  }
  grpc::ByteBuffer buffer;
  if (TakeMessage(buffer)) error_ = Handle(buffer);
  if (error_.ok()) error_ = session_->status();

  // Asked before taking: what ends later comes with a turn of its own.
  const bool settled = session_->num_pending() == 0;
  if (!writing()) {
    const InsertDone done = session_->TakeDone();
    if (!done.empty()) {
      Write(rpc::ToByteBuffer(wire::BuildInsertResponse(done)));
    }
  }
  if (!error_.ok()) {
    if (!writing()) End(error_);
  } else if (half_closed()) {
    if (settled && !writing()) End(absl::OkStatus());
  } else if (session_->ReadyForMore()) {
    Read();
  }
}

absl::Status InsertStreamReactor::Handle(grpc::ByteBuffer& buffer) {
  InsertMessage message;
  {
    // Chunks are copied out of it: gRPC's memory is free before items wait.
    const rpc::ReceivedMessage received(buffer);
    REVERB_ASSIGN_OR_RETURN(
        message, wire::ParseInsertRequest(received.slices(), core_->limits()));
  }
  return session_->Submit(std::move(message));
}

void InsertStreamReactor::CloseSession() {
  if (session_ != nullptr) session_->Close(/*withdraw=*/false);
}

}  // namespace reverb
