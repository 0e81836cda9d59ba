// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The connections to a target, and what is known about its addresses.
//
// The first channel sends no pings, which 0.14 servers punish. Once an answer
// has shown that the server is ours, and while the target is one address, new
// calls and streams go over a second channel whose pings notice a peer that
// has vanished or hangs.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_CHANNEL_H_
#define REVERB_CC_CLIENT_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

class Channels {
 public:
  explicit Channels(std::string target);

  // For the next call or stream. Its connection is made when used.
  std::shared_ptr<grpc::Channel> Best();

  // A server of ours answered.
  void NotePingsAllowed();
  // Whether `text`, of a lost connection, complains about pings: then there
  // will be no more.
  void NoteLost(absl::string_view text);

  // Whether all connections reach the same server, as far as is known: names
  // are looked up in the background, at most once a second.
  bool HasOneAddress();

 private:
  struct Lookup;

  const std::string target_;
  const std::shared_ptr<Lookup> lookup_;
  Mutex mu_;
  std::shared_ptr<grpc::Channel> quiet_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<grpc::Channel> pinging_ ABSL_GUARDED_BY(mu_);
  bool pings_allowed_ ABSL_GUARDED_BY(mu_) = false;
  bool pings_refused_ ABSL_GUARDED_BY(mu_) = false;
};

// What a gRPC target says about its addresses.
struct TargetKind {
  bool several = false;              // names more than one, or we can't tell
  std::string host_to_look_up = {};  // empty: none
};
TargetKind ClassifyTarget(absl::string_view target);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_CHANNEL_H_
