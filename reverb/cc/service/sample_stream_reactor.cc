// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/sample_stream_reactor.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/messages.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

SampleStreamReactor::SampleStreamReactor(std::shared_ptr<ServerCore> core,
                                         grpc::CallbackServerContext* context)
    : StreamReactor(*core, context), core_(std::move(core)) {}

void SampleStreamReactor::Step() {
  if (session_ == nullptr) {
    // Here, because the constructor has no weak_ptr to give.
    session_ =
        core_->OpenSampleSession(std::static_pointer_cast<SessionListener>(
            std::static_pointer_cast<StreamReactor>(shared_from_this())));
  }
  if (grpc::ByteBuffer buffer; TakeMessage(buffer)) {
    absl::Status status = Handle(buffer);
    if (!status.ok()) return End(status);
  }
  if (writing()) return;
  if (outbox_.empty()) FillOutbox();
  if (!outbox_.empty()) {
    Write(rpc::ToByteBuffer(std::move(outbox_.front())));
    outbox_.pop_front();
    return;
  }
  // What becomes ready from here on comes with a turn of its own.
  if (absl::Status status = session_->status(); !status.ok()) {
    return End(status);
  }
  if (!session_->RequestIsComplete()) return;
  if (half_closed()) return End(absl::OkStatus());
  Read();
}

absl::Status SampleStreamReactor::Handle(grpc::ByteBuffer& buffer) {
  rpc::ReceivedMessage message(buffer);
  REVERB_ASSIGN_OR_RETURN(SampleMessage parsed,
                          wire::ParseSampleRequest(message.Contiguous()));
  table_ = parsed.table;
  return session_->Request(parsed);
}

void SampleStreamReactor::FillOutbox() {
  const std::vector<Sample> samples = session_->Take();
  if (samples.empty()) return;
  wire::SampleResponseBuilder builder(table_);
  for (const Sample& sample : samples) builder.Add(sample);
  for (Rope& message : builder.Take(/*flush=*/true)) {
    outbox_.push_back(std::move(message));
  }
}

void SampleStreamReactor::CloseSession() {
  if (session_ != nullptr) session_->Close();
  outbox_.clear();
}

}  // namespace reverb
