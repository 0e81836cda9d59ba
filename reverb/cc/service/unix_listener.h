// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The same-host way into a server: a unix socket in a folder that only its
// user can enter. Clients learn of it from the metadata of their first call
// and move over by themselves (client/same_host.h).
//
// A thread of its own accepts, since gRPC offers a server's unix sockets to
// everybody who can see the path: here the other end's user is checked, and
// the socket's buffers are set.
//
// Threads: one thread.

#ifndef REVERB_CC_SERVICE_UNIX_LISTENER_H_
#define REVERB_CC_SERVICE_UNIX_LISTENER_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

#include "reverb/cc/rpc/unix_socket.h"

namespace reverb {

class UnixListener {
 public:
  // Makes the folder and the socket, and takes away those that killed servers
  // of this user left behind. An error if no place for it can be found.
  static absl::StatusOr<std::unique_ptr<UnixListener>> Create();
  // Stops, and removes socket and folder.
  ~UnixListener();

  const std::string& path() const { return path_; }

  // Accepts connections for `server`, which outlives them, until `Stop`. Once.
  void Serve(grpc::Server& server);
  // No connection is accepted any more when it returns. Idempotent.
  void Stop();

 private:
  UnixListener() = default;
  void Run(grpc::Server& server);

  std::string folder_;
  std::string path_;
  rpc::UniqueFd listening_;
  rpc::UniqueFd stop_;  // an eventfd
  std::thread thread_;
};

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_UNIX_LISTENER_H_
