// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The connections to a target, and what is known about its addresses.
//
// The first channel sends no pings, which 0.14 servers punish. Once an answer
// has shown that the server is ours, and while the target is one address, new
// calls and streams go over a second channel whose pings notice a peer that
// has vanished or hangs. If it is on this host, they move on to its unix
// socket (client/same_host.h), until that connection is lost.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_CHANNEL_H_
#define REVERB_CC_CLIENT_CHANNEL_H_

#include <grpcpp/channel.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

class Channels : public std::enable_shared_from_this<Channels> {
 public:
  explicit Channels(std::string target);

  // For the next call or stream. The connection of a channel over TCP is made
  // when used; that over the unix socket is there, and may be lost without
  // being made again.
  std::shared_ptr<grpc::Channel> Best();
  // For a call that may not be repeated: waits for a connection.
  std::shared_ptr<grpc::Channel> OverTcp();

  // What the server said to begin with. One of ours may be pinged, and may
  // offer a unix socket.
  void NoteServer(const rpc::Metadata& metadata);
  // Waits for an attempt to reach the server over its unix socket, if there is
  // one; not for long.
  void WaitForUnixSocket();
  // A call over `channel` ended with `status`. A complaint about pings means
  // that there will be no more.
  void NoteLost(const grpc::Channel& channel, const absl::Status& status);

  bool IsConnected(grpc::Channel& channel);
  bool UsesUnixSocket();
  // Changes when new calls take another way.
  int64_t generation();

  // Whether all connections reach the same server, as far as is known: names
  // are looked up in the background, at most once a second.
  bool HasOneAddress();

 private:
  struct Lookup;

  std::shared_ptr<grpc::Channel> OverTcpLocked(bool one)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteUnixSocket(const std::string& server_id,
                      std::shared_ptr<grpc::Channel> channel);

  const std::string target_;
  const std::shared_ptr<Lookup> lookup_;
  Mutex mu_;
  std::shared_ptr<grpc::Channel> quiet_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<grpc::Channel> pinging_ ABSL_GUARDED_BY(mu_);
  bool pings_allowed_ ABSL_GUARDED_BY(mu_) = false;
  bool pings_refused_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<grpc::Channel> unix_ ABSL_GUARDED_BY(mu_);  // null: none
  CondVar attempted_;
  bool attempting_ ABSL_GUARDED_BY(mu_) = false;
  std::string unreachable_ ABSL_GUARDED_BY(mu_);  // id of such a server
  int64_t generation_ ABSL_GUARDED_BY(mu_) = 0;
};

// What a gRPC target says about its addresses.
struct TargetKind {
  bool several = false;              // names more than one, or we can't tell
  std::string host_to_look_up = {};  // empty: none
};
TargetKind ClassifyTarget(absl::string_view target);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_CHANNEL_H_
