// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A client that sends bytes as they are, to any method, one step at a time.

#ifndef REVERB_TESTS_CC_SERVICE_TEST_CLIENT_H_
#define REVERB_TESTS_CC_SERVICE_TEST_CLIENT_H_

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/runtime.h"
#include "reverb/cc/rpc/status.h"
#include "reverb/cc/wire/rope.h"

namespace reverb {

inline std::shared_ptr<grpc::Channel> TestChannel(int port) {
  EXPECT_TRUE(rpc::UseGrpc().ok());
  // No name to resolve: gRPC's resolver leaks a copy of it.
  return grpc::CreateCustomChannel(absl::StrCat("ipv4:127.0.0.1:", port),
                                   grpc::InsecureChannelCredentials(),
                                   rpc::ChannelArgs(/*pings=*/false));
}

// A call. Everything waits until it is done; a call that hangs ends after a
// minute with DeadlineExceeded.
class TestCall {
 public:
  TestCall(const std::shared_ptr<grpc::Channel>& channel,
           const std::string& method,
           std::optional<std::string> features = std::nullopt,
           const std::string& session_id = "")
      : stub_(channel) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::minutes(1));
    if (features) context_.AddMetadata(rpc::kFeaturesKey, *features);
    if (!session_id.empty()) {
      context_.AddMetadata(rpc::kSessionKey, session_id);
    }
    call_ = stub_.PrepareCall(&context_, method, &queue_);
    call_->StartCall(this);
    Next();
  }
  ~TestCall() {
    if (!status_) {
      Cancel();
      Finish().IgnoreError();
    }
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  // False if the call is over.
  bool Write(std::string message) {
    call_->Write(rpc::ToByteBuffer(std::move(message)), this);
    return Next();
  }
  bool Write(Rope message) { return Write(message.Flatten()); }
  void HalfClose() {
    call_->WritesDone(this);
    Next();
  }
  // The next message, nothing at the end.
  std::optional<std::string> Read() {
    grpc::ByteBuffer buffer;
    call_->Read(&buffer, this);
    if (!Next()) return std::nullopt;
    return std::string(rpc::ReceivedMessage(buffer).Contiguous());
  }
  void Cancel() { context_.TryCancel(); }
  // How the call ended; waits for it.
  absl::Status Finish() {
    if (!status_) {
      grpc::Status status;
      call_->Finish(&status, this);
      Next();
      status_ =
          rpc::FromGrpcStatus(status, context_.GetServerTrailingMetadata());
    }
    return *status_;
  }
  // Reads to the end.
  absl::Status Drain() {
    while (Read()) {
    }
    return Finish();
  }

  std::optional<std::string> Initial(absl::string_view key) {
    return Find(context_.GetServerInitialMetadata(), key);
  }
  std::optional<std::string> Trailer(absl::string_view key) {
    return Find(context_.GetServerTrailingMetadata(), key);
  }
  // Waits for the server's initial metadata.
  void ReadInitialMetadata() {
    call_->ReadInitialMetadata(this);
    Next();
  }
  size_t num_initial() { return context_.GetServerInitialMetadata().size(); }
  size_t num_trailers() { return context_.GetServerTrailingMetadata().size(); }

 private:
  static std::optional<std::string> Find(const rpc::Metadata& metadata,
                                         absl::string_view key) {
    const auto found = rpc::FindMetadata(metadata, key);
    if (!found) return std::nullopt;
    return std::string(*found);
  }
  bool Next() {
    void* tag;
    bool ok = false;
    EXPECT_TRUE(queue_.Next(&tag, &ok));
    return ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  std::optional<absl::Status> status_;
};

}  // namespace reverb

#endif  // REVERB_TESTS_CC_SERVICE_TEST_CLIENT_H_
