// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/server.h"

#include <arpa/inet.h>
#include <grpc/support/time.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/engine/registry.h"
#include "reverb/cc/rpc/runtime.h"
#include "reverb/cc/rpc/unix_socket.h"
#include "reverb/cc/service/service.h"
#include "reverb/cc/service/unix_listener.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/log.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

// What streams have, after the core was closed, to write what they owe.
constexpr int64_t kGraceMs = 500;

// Tries to bind the wildcard address of `family`; 0, or the errno.
int TryBind(int family, int port) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  int result;
  if (family == AF_INET6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_any;
    address.sin6_port = htons(static_cast<uint16_t>(port));
    result = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    result = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  }
  const int error = result == 0 ? 0 : errno;
  ::close(fd);
  return error;
}

// A gRPC server and its core. Shared by its `Server` and `StopAllServers`.
class RunningServer {
 public:
  static absl::StatusOr<std::shared_ptr<RunningServer>> Start(
      std::shared_ptr<ServerCore> core, int port);

  int port() const { return port_; }
  void Stop();
  bool WaitUntil(SteadyTime deadline);

 private:
  enum class State { kRunning, kStopping, kStopped };

  explicit RunningServer(std::shared_ptr<ServerCore> core)
      : core_(std::move(core)), service_(core_) {}

  // Before calls are served, which tell of it.
  void OfferUnixSocket();

  const std::shared_ptr<ServerCore> core_;
  Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;  // refers to service_
  std::unique_ptr<UnixListener> unix_;    // refers to server_; null: none

  Mutex mu_;
  CondVar stopped_;
  State state_ ABSL_GUARDED_BY(mu_) = State::kRunning;
};

// The servers of this process. Never destroyed: it is used while the process
// exits.
struct ServerList {
  Mutex mu;
  std::vector<std::weak_ptr<RunningServer>> servers ABSL_GUARDED_BY(mu);
};

ServerList& GetServerList() {
  static ServerList* const list = new ServerList;
  return *list;
}

void RunningServer::OfferUnixSocket() {
  if (!rpc::UnixSocketsWanted()) return;
  auto listener = UnixListener::Create();
  if (!listener.ok()) {
    LogInfo(absl::StrCat("clients on this host stay on TCP: ",
                         listener.status().message()));
    return;
  }
  unix_ = *std::move(listener);
  core_->set_unix_socket(unix_->path());
}

absl::StatusOr<std::shared_ptr<RunningServer>> RunningServer::Start(
    std::shared_ptr<ServerCore> core, int port) {
  std::shared_ptr<RunningServer> running(new RunningServer(std::move(core)));
  const int family = TryBind(AF_INET6, 0) == 0 ? AF_INET6 : AF_INET;
  const std::string address =
      absl::StrCat(family == AF_INET6 ? "[::]:" : "0.0.0.0:", port);

  grpc::ServerBuilder builder;
  rpc::SetServerArgs(running->core_->limits(), builder);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(),
                           &running->port_);
  builder.RegisterCallbackGenericService(&running->service_);
  running->OfferUnixSocket();
  running->server_ = builder.BuildAndStart();
  if (running->server_ == nullptr || running->port_ <= 0) {
    const int error = TryBind(family, port);
    return absl::InvalidArgumentError(absl::StrCat(
        "can't listen on port ", port, ": ",
        error == 0 ? "the address could not be bound" : std::strerror(error)));
  }
  if (running->unix_ != nullptr) running->unix_->Serve(*running->server_);
  RegisterServer(running->port_, running->core_);

  ServerList& list = GetServerList();
  MutexLock lock(list.mu);
  std::erase_if(list.servers, [](const auto& weak) { return weak.expired(); });
  list.servers.push_back(running);
  return running;
}

void RunningServer::Stop() {
  {
    MutexLock lock(mu_);
    while (state_ == State::kStopping) stopped_.Wait(mu_);
    if (state_ == State::kStopped) return;
    state_ = State::kStopping;
  }
  UnregisterServer(port_, core_.get());
  unix_.reset();
  core_->Close();
  // Waits for the streams, which end by themselves now, and cancels those that
  // have not ended in time. Returns when no reaction can come any more.
  server_->Shutdown(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                 gpr_time_from_millis(kGraceMs, GPR_TIMESPAN)));
  {
    MutexLock lock(mu_);
    state_ = State::kStopped;
  }
  stopped_.NotifyAll();
}

bool RunningServer::WaitUntil(SteadyTime deadline) {
  MutexLock lock(mu_);
  while (state_ != State::kStopped) {
    if (!stopped_.WaitUntil(mu_, deadline)) return state_ == State::kStopped;
  }
  return true;
}

class ServerImpl final : public Server {
 public:
  explicit ServerImpl(std::shared_ptr<RunningServer> running)
      : running_(std::move(running)) {}

  ~ServerImpl() override {
    Stop();
    // gRPC can't be called in a forked child, not even to let go of it.
    if (InForkedChildOfGrpcUser()) {
      new std::shared_ptr<RunningServer>(std::move(running_));
    }
  }

  int port() const override { return running_->port(); }

  void Stop() override {
    if (!InForkedChildOfGrpcUser()) running_->Stop();
  }

  bool WaitUntil(SteadyTime deadline) override {
    return InForkedChildOfGrpcUser() || running_->WaitUntil(deadline);
  }

 private:
  std::shared_ptr<RunningServer> running_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(
    std::shared_ptr<ServerCore> core, const Options& options) {
  if (core == nullptr) {
    return absl::InvalidArgumentError("a server needs a core");
  }
  if (options.port < 0 || options.port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "port ", options.port, " is out of range: 0 to 65535 are valid"));
  }
  REVERB_RETURN_IF_ERROR(rpc::UseGrpc());
  REVERB_ASSIGN_OR_RETURN(auto running,
                          RunningServer::Start(std::move(core), options.port));
  return std::unique_ptr<Server>(new ServerImpl(std::move(running)));
}

void StopAllServers() {
  if (InForkedChildOfGrpcUser()) return;
  ServerList& list = GetServerList();
  std::vector<std::weak_ptr<RunningServer>> servers;
  {
    MutexLock lock(list.mu);
    servers = list.servers;
  }
  for (const auto& weak : servers) {
    if (const auto server = weak.lock()) server->Stop();
  }
}

}  // namespace reverb
