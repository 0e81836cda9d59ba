// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/insert_stream_reactor.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/messages.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

namespace {

absl::StatusOr<std::string> FindSessionId(const rpc::Metadata& metadata) {
  const auto features = rpc::FindMetadata(metadata, rpc::kFeaturesKey);
  if (!features || !rpc::HasFeature(*features, rpc::kSessionFeature)) {
    return std::string();
  }
  const auto id = rpc::FindMetadata(metadata, rpc::kSessionKey);
  if (!id) return std::string();
  const bool is_valid = id->size() == 32 && std::all_of(id->begin(), id->end(),
                                                        absl::ascii_isxdigit);
  if (is_valid) return std::string(*id);
  return absl::InvalidArgumentError(
      absl::StrCat(rpc::kSessionKey, " must be 32 hex digits, got '",
                   absl::CHexEscape(id->substr(0, 64)), "'"));
}

}  // namespace

InsertStreamReactor::InsertStreamReactor(std::shared_ptr<ServerCore> core,
                                         grpc::CallbackServerContext* context)
    : StreamReactor(*core, context),
      core_(std::move(core)),
      session_id_(FindSessionId(context->client_metadata())) {}

void InsertStreamReactor::Step() {
  if (session_ == nullptr) {
    // Here, because the constructor has no weak_ptr to give.
    session_ = core_->OpenInsertSession(
        std::static_pointer_cast<SessionListener>(
            std::static_pointer_cast<StreamReactor>(shared_from_this())),
        session_id_.ok() ? *session_id_ : "");
    error_ = session_id_.status();
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
