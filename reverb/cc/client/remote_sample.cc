// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Operations of the call, all on the stream's own completion queue: StartCall,
// then one Read after the other, beside them one Write at a time; Finish after
// the first failed Read.

#include "reverb/cc/client/remote_sample.h"

#include <grpc/support/time.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/io.h"
#include "reverb/cc/client/sample_decoder.h"
#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/status.h"
#include "reverb/cc/wire/messages.h"

namespace reverb {
namespace {

class OwnedMessage final : public SampleAssembler::Message {
 public:
  explicit OwnedMessage(grpc::ByteBuffer& buffer) : message_(buffer) {}
  absl::string_view bytes() override { return message_.Contiguous(); }

 private:
  rpc::ReceivedMessage message_;
};

class RemoteSample final : public SampleStream {
 public:
  explicit RemoteSample(std::shared_ptr<Channels> channels)
      : channels_(std::move(channels)),
        channel_(channels_->Best()),
        stub_(channel_) {
    context_.AddMetadata(rpc::kFeaturesKey, std::string(rpc::kWaitFeature));
    call_ = stub_.PrepareCall(&context_, rpc::kSampleStreamMethod, &queue_);
    call_->StartCall(TagOf(kStart));
  }

  ~RemoteSample() override {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  void Request(const SampleMessage& message) override {
    requests_.push_back(wire::BuildSampleRequest(message));
    // The write before may be over without `Next` having come by its event: a
    // sample can overtake it. Without a look the request would wait for the
    // caller to come back.
    if (writing_) HandleWhatIsThere();
    MaybeWrite();
  }

  Event Next(SteadyTime until) override {
    while (true) {
      if (auto sample = assembler_.Next()) {
        return {.kind = Event::kSample, .sample = *std::move(sample)};
      }
      if (ended_) return {.kind = Event::kEnded, .ended = *ended_};
      void* tag = nullptr;
      bool ok = false;
      switch (queue_.AsyncNext(&tag, &ok, ToGprTime(until))) {
        case grpc::CompletionQueue::GOT_EVENT:
          Handle(OperationOf(tag), ok);
          break;
        case grpc::CompletionQueue::TIMEOUT:
          return {.kind = Event::kNothing};
        case grpc::CompletionQueue::SHUTDOWN:
          ended_ = absl::CancelledError("shut down");
          break;
      }
    }
  }

  bool connected() const override { return started_; }
  void Cancel() override { context_.TryCancel(); }

 private:
  enum Operation : intptr_t { kStart = 1, kRead, kWrite, kFinish };
  static void* TagOf(Operation operation) {
    return reinterpret_cast<void*>(static_cast<intptr_t>(operation));
  }
  static Operation OperationOf(void* tag) {
    return static_cast<Operation>(reinterpret_cast<intptr_t>(tag));
  }

  void HandleWhatIsThere() {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) ==
           grpc::CompletionQueue::GOT_EVENT) {
      Handle(OperationOf(tag), ok);
    }
  }

  void MaybeWrite() {
    if (!started_ || writing_ || over_ || requests_.empty()) return;
    writing_ = true;
    call_->Write(rpc::ToByteBuffer(std::move(requests_.front())),
                 TagOf(kWrite));
    requests_.pop_front();
  }

  void BeginFinish() {
    over_ = true;
    call_->Finish(&final_status_, TagOf(kFinish));
  }

  void Handle(Operation operation, bool ok) {
    switch (operation) {
      case kStart:
        if (!ok) return BeginFinish();
        started_ = true;
        MaybeWrite();
        call_->Read(&incoming_, TagOf(kRead));
        return;
      case kWrite:
        writing_ = false;
        if (ok) MaybeWrite();
        return;
      case kRead:
        return HandleMessage(ok);
      case kFinish:
        ended_ = broken_.ok()
                     ? rpc::FromGrpcStatus(final_status_,
                                           context_.GetServerTrailingMetadata())
                     : broken_;
        channels_->NoteLost(*channel_, *ended_);
        return;
    }
  }

  void HandleMessage(bool ok) {
    if (!ok) return BeginFinish();
    if (!std::exchange(seen_metadata_, true)) {
      channels_->NoteServer(context_.GetServerInitialMetadata());
    }
    absl::Status status =
        assembler_.Add(std::make_unique<OwnedMessage>(incoming_));
    if (status.ok()) return call_->Read(&incoming_, TagOf(kRead));
    broken_ = absl::DataLossError(absl::StrCat(
        "the server sent a malformed message: ", status.message()));
    context_.TryCancel();
    BeginFinish();
  }

  const std::shared_ptr<Channels> channels_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;  // outlives the call
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  std::deque<std::string> requests_;  // not yet written
  grpc::ByteBuffer incoming_;
  SampleAssembler assembler_;
  grpc::Status final_status_;
  bool started_ = false;
  bool writing_ = false;
  bool over_ = false;
  bool seen_metadata_ = false;
  absl::Status broken_;  // what we found wrong with the server's messages
  std::optional<absl::Status> ended_;
};

}  // namespace

std::unique_ptr<SampleStream> NewRemoteSampleStream(
    std::shared_ptr<Channels> channels) {
  return std::make_unique<RemoteSample>(std::move(channels));
}

}  // namespace reverb
