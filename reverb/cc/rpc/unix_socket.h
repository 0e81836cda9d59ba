// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What both ends of the same-host transport do with their unix sockets.
//
// Threads: thread-safe (pure functions).

#ifndef REVERB_CC_RPC_UNIX_SOCKET_H_
#define REVERB_CC_RPC_UNIX_SOCKET_H_

#include <sys/un.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reverb::rpc {

// A descriptor that is closed with its owner.
//
// Threads: one thread.
class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void Reset(int fd = -1);

 private:
  int fd_;
};

// False if the environment says so: REVERB_UNIX_SOCKET=0.
bool UnixSocketsWanted();

// A socket as gRPC takes them over: stream, non-blocking, closed on exec.
absl::StatusOr<UniqueFd> NewUnixSocket();

// InvalidArgument if `path` is too long for an address.
absl::StatusOr<sockaddr_un> UnixAddress(const std::string& path);

// Room for large messages on their way: the system's default makes a sender
// wait for its reader at every 200 kB.
void EnlargeBuffers(int fd);

// Whether the process at the other end of the connection `fd` belongs to the
// user of this one.
bool PeerIsSameUser(int fd);

// Whether `folder` is one that nobody but this user can reach into.
bool IsPrivateFolder(const std::string& folder);

}  // namespace reverb::rpc

#endif  // REVERB_CC_RPC_UNIX_SOCKET_H_
