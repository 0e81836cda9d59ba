// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/remote_backend.h"

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/io.h"
#include "reverb/cc/client/remote_insert.h"
#include "reverb/cc/client/remote_sample.h"
#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/runtime.h"
#include "reverb/cc/rpc/status.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/messages.h"

namespace reverb {
namespace {

// One attempt at a unary call, with a completion queue of its own that the
// caller's thread waits on.
class UnaryCall {
 public:
  UnaryCall(std::shared_ptr<grpc::Channel> channel, const char* method,
            bool wait_for_ready, const std::string& request,
            SteadyTime deadline)
      : stub_(std::move(channel)) {
    context_.set_wait_for_ready(wait_for_ready);
    if (deadline != kNoDeadline) context_.set_deadline(ToGprTime(deadline));
    context_.AddMetadata(rpc::kFeaturesKey, std::string(rpc::kWaitFeature));
    call_ = stub_.PrepareUnaryCall(&context_, method,
                                   rpc::ToByteBuffer(request), &queue_);
    call_->StartCall();
    call_->Finish(&response_, &status_, this);
  }
  ~UnaryCall() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  // Whether the call was over before `until`.
  bool Wait(SteadyTime until) {
    void* tag = nullptr;
    bool ok = false;
    return queue_.AsyncNext(&tag, &ok, ToGprTime(until)) ==
           grpc::CompletionQueue::GOT_EVENT;
  }

  // Once the call is over.
  absl::Status status() {
    return rpc::FromGrpcStatus(status_, context_.GetServerTrailingMetadata());
  }
  std::string TakeResponse() {
    return std::string(rpc::ReceivedMessage(response_).Contiguous());
  }
  const rpc::Metadata& metadata() {
    return context_.GetServerInitialMetadata();
  }

 private:
  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;  // outlives the call
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
};

// `status` of a call, saying who was called where the text of gRPC doesn't.
// Cancelled by the other side is a lost server: our own end of a call doesn't
// come here.
absl::Status AtTarget(absl::string_view target, const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kUnknown: {
      const absl::StatusCode code = absl::IsCancelled(status)
                                        ? absl::StatusCode::kUnavailable
                                        : status.code();
      return absl::Status(
          code, absl::StrCat(status.message(), " (calling the server at '",
                             target, "')"));
    }
    default:
      return status;
  }
}

}  // namespace

RemoteBackend::RemoteBackend(Endpoint& endpoint)
    : endpoint_(endpoint),
      channels_(std::make_shared<Channels>(endpoint.options().target)) {}

absl::StatusOr<std::string> RemoteBackend::Call(const CallOptions& options,
                                                const std::string& request,
                                                const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(rpc::UseGrpc());
  AwayTimer away(endpoint_);
  InterruptPoll interrupt(wait);
  Backoff backoff;
  while (true) {
    const std::shared_ptr<grpc::Channel> channel =
        options.repeatable ? channels_->Best() : channels_->OverTcp();
    UnaryCall call(channel, options.method, options.wait_for_ready, request,
                   wait.deadline);
    while (true) {
      // gRPC ends the call at its deadline itself.
      if (call.Wait(Clock::Real().Now() + kInterruptPeriod)) break;
      const SteadyTime now = Clock::Real().Now();
      REVERB_RETURN_IF_ERROR(endpoint_.Check());
      REVERB_RETURN_IF_ERROR(interrupt.Check(now));
      REVERB_RETURN_IF_ERROR(away.Check(channels_->IsConnected(*channel), now));
    }
    const absl::Status status = call.status();
    if (status.ok()) {
      endpoint_.NoteReached();
      if (options.read_features) {
        const auto features =
            rpc::FindMetadata(call.metadata(), rpc::kFeaturesKey);
        expect_wait_.store(features &&
                           rpc::HasFeature(*features, rpc::kWaitFeature));
        channels_->NoteServer(call.metadata());
        channels_->WaitForUnixSocket();
      }
      return call.TakeResponse();
    }
    channels_->NoteLost(*channel, status);
    if (!options.repeatable || !IsLostConnection(status)) {
      return AtTarget(endpoint_.options().target, status);
    }
    const SteadyTime now = Clock::Real().Now();
    REVERB_RETURN_IF_ERROR(endpoint_.Check());
    REVERB_RETURN_IF_ERROR(interrupt.Check(now));
    REVERB_RETURN_IF_ERROR(away.Check(/*connected=*/false, now));
    std::this_thread::sleep_for(
        std::min<SteadyDuration>(backoff.Next(), kInterruptPeriod));
  }
}

absl::Status RemoteBackend::MutatePriorities(
    absl::string_view table, absl::Span<const PriorityUpdate> updates,
    absl::Span<const ItemKey> deletes, const WaitOptions& wait) {
  MutateMessage message{.table = std::string(table),
                        .updates = {updates.begin(), updates.end()},
                        .deletes = {deletes.begin(), deletes.end()}};
  return Call({.method = rpc::kMutatePrioritiesMethod, .repeatable = true},
              wire::BuildMutateRequest(message), wait)
      .status();
}

absl::Status RemoteBackend::Reset(absl::string_view table,
                                  const WaitOptions& wait) {
  // Not repeated: a second reset would take what was inserted after the first.
  return Call({.method = rpc::kResetMethod}, wire::BuildResetRequest(table),
              wait)
      .status();
}

absl::StatusOr<std::string> RemoteBackend::Checkpoint(const WaitOptions& wait) {
  REVERB_ASSIGN_OR_RETURN(
      const std::string response,
      Call({.method = rpc::kCheckpointMethod, .wait_for_ready = false}, "",
           wait));
  return wire::ParseCheckpointResponse(response);
}

absl::StatusOr<ServerInfoMessage> RemoteBackend::ServerInfo(
    const WaitOptions& wait) {
  REVERB_ASSIGN_OR_RETURN(const std::string response,
                          Call({.method = rpc::kServerInfoMethod,
                                .repeatable = true,
                                .read_features = true},
                               "", wait));
  return wire::ParseServerInfoResponse(response);
}

std::shared_ptr<InsertConnection> RemoteBackend::NewInsertConnection(
    const std::string& session_id) {
  // A forked child has been refused before.
  rpc::UseGrpc().IgnoreError();
  return NewRemoteInsertConnection(channels_, expect_wait_.load(), session_id);
}

std::unique_ptr<SampleStream> RemoteBackend::NewSampleStream() {
  rpc::UseGrpc().IgnoreError();
  return NewRemoteSampleStream(channels_);
}

}  // namespace reverb
