// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/same_host.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/client/io.h"
#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/runtime.h"
#include "reverb/cc/rpc/unix_socket.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/log.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

using Done = std::function<void(std::shared_ptr<grpc::Channel>)>;

constexpr std::chrono::seconds kAnswerTime{5};

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(
    const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  // Another user could put a server of theirs anywhere else.
  if (!rpc::IsPrivateFolder(folder)) {
    return absl::PermissionDeniedError(
        absl::StrCat(folder, " is not a folder of this user alone"));
  }
  REVERB_ASSIGN_OR_RETURN(const sockaddr_un address, rpc::UnixAddress(path));
  REVERB_ASSIGN_OR_RETURN(rpc::UniqueFd fd, rpc::NewUnixSocket());
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof(address)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("can't connect to ", path));
  }
  if (!rpc::PeerIsSameUser(fd.get())) {
    return absl::PermissionDeniedError(
        absl::StrCat("another user listens at ", path));
  }
  rpc::EnlargeBuffers(fd.get());
  // The name is what calls carry as their authority.
  return grpc::CreateCustomInsecureChannelFromFd(
      "localhost", fd.Release(), rpc::ChannelArgs(/*pings=*/true));
}

// Asks the server at the other end of a channel for its id. Owns itself until
// the answer is there.
class Probe final : public IoTag {
 public:
  Probe(std::shared_ptr<grpc::Channel> channel, std::string server_id,
        Done done)
      : channel_(std::move(channel)),
        server_id_(std::move(server_id)),
        done_(std::move(done)),
        stub_(channel_) {}

  void Start() {
    context_.set_deadline(ToGprTime(Clock::Real().Now() + kAnswerTime));
    context_.AddMetadata(rpc::kFeaturesKey, "");
    call_ =
        stub_.PrepareUnaryCall(&context_, rpc::kServerInfoMethod,
                               rpc::ToByteBuffer(std::string()), &IoQueue());
    call_->StartCall();
    call_->Finish(&response_, &status_, this);
  }

  void Run(bool /*ok*/) override {
    const std::unique_ptr<Probe> self(this);
    done_(IsTheServer() ? std::move(channel_) : nullptr);
  }

 private:
  bool IsTheServer() const {
    if (!status_.ok()) return false;
    const auto id = rpc::FindMetadata(context_.GetServerInitialMetadata(),
                                      rpc::kServerIdKey);
    return id && *id == server_id_;
  }

  std::shared_ptr<grpc::Channel> channel_;
  const std::string server_id_;
  const Done done_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;  // outlives the call
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
};

}  // namespace

void ConnectSameHost(const std::string& path, const std::string& server_id,
                     Done done) {
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = Connect(path);
  if (!channel.ok()) {
    // As it should be for a server on another host.
    LogInfo(absl::StrCat("staying on TCP: ", channel.status().message()));
    return done(nullptr);
  }
  (new Probe(*std::move(channel), server_id, std::move(done)))->Start();
}

}  // namespace reverb
