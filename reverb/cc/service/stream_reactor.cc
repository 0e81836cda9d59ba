// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/stream_reactor.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"

#include "reverb/cc/rpc/status.h"

namespace reverb {

grpc::ServerGenericBidiReactor* StreamReactor::Launch(
    std::shared_ptr<StreamReactor> reactor) {
  StreamReactor* const raw = reactor.get();
  raw->self_ = std::move(reactor);
  // A client that negotiates learns what it gets before the first message.
  if (raw->metadata_.AddInitial()) raw->StartSendInitialMetadata();
  TurnScope turns;
  raw->Schedule();
  return raw;
}

void StreamReactor::OnReadDone(bool ok) {
  TurnScope turns;
  {
    MutexLock lock(mu_);
    events_.read_done = true;
    events_.read_ok = ok;
  }
  Schedule();
}

void StreamReactor::OnWriteDone(bool ok) {
  TurnScope turns;
  {
    MutexLock lock(mu_);
    events_.write_done = true;
    events_.write_ok = ok;
  }
  Schedule();
}

void StreamReactor::OnCancel() {
  TurnScope turns;
  {
    MutexLock lock(mu_);
    events_.cancelled = true;
  }
  Schedule();
}

void StreamReactor::OnDone() {
  // The last reference may be this one.
  const std::shared_ptr<StreamReactor> self = std::move(self_);
}

void StreamReactor::RunTurn() {
  Events events;
  {
    MutexLock lock(mu_);
    events = std::exchange(events_, Events());
  }
  if (ended_) return;
  NoteEvents(events);
  if (!ending_.has_value()) Step();
  if (!ending_.has_value() || writing_) return;
  ended_ = true;
  metadata_.AddTrailing(*ending_);
  Finish(rpc::ToGrpcStatus(*ending_));
}

void StreamReactor::NoteEvents(const Events& events) {
  if (events.read_done) {
    reading_ = false;
    has_message_ = events.read_ok;
    half_closed_ = !events.read_ok;
  }
  if (events.write_done) {
    writing_ = false;
    outgoing_.Clear();
  }
  if (events.cancelled || (events.write_done && !events.write_ok)) {
    End(absl::CancelledError("the stream was cancelled"));
  }
}

void StreamReactor::Read() {
  if (reading_ || half_closed_) return;
  reading_ = true;
  StartRead(&incoming_);
}

bool StreamReactor::TakeMessage(grpc::ByteBuffer& message) {
  if (!std::exchange(has_message_, false)) return false;
  message.Clear();
  message.Swap(&incoming_);
  return true;
}

void StreamReactor::Write(grpc::ByteBuffer message) {
  writing_ = true;
  outgoing_.Swap(&message);
  StartWrite(&outgoing_);
}

void StreamReactor::End(const absl::Status& status) {
  if (ending_.has_value()) return;
  ending_ = status;
  CloseSession();
}

}  // namespace reverb
