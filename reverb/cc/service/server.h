// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A gRPC server around a server core: binds, serves, stops.
//
// Threads: thread-safe.

#ifndef REVERB_CC_SERVICE_SERVER_H_
#define REVERB_CC_SERVICE_SERVER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/support/clock.h"

namespace reverb {

class Server {
 public:
  struct Options {
    int port = 0;  // 0: any free port; 0 .. 65535 else InvalidArgument
  };

  // Listens on [::]:port, plaintext, IPv4 and IPv6; no sharing of ports.
  // InvalidArgument if the port is taken. Registers the core with
  // engine/registry.h. Accepts calls when it returns.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      std::shared_ptr<ServerCore> core, const Options& options);
  // Stops.
  virtual ~Server() = default;

  virtual int port() const = 0;

  // Closes the core, fails what waits (streams with UNAVAILABLE and the
  // trailer `reverb-stopping: 1`), cancels every call and waits for the
  // shutdown. Idempotent; a second caller waits for the first.
  virtual void Stop() = 0;

  // Waits until the server was stopped or `deadline` has passed; true if
  // stopped.
  virtual bool WaitUntil(SteadyTime deadline) = 0;
};

// Stops every server of this process; for the interpreter's exit.
void StopAllServers();

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_SERVER_H_
