// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What comes before the first server or channel, and the options they share.

#ifndef REVERB_CC_RPC_RUNTIME_H_
#define REVERB_CC_RPC_RUNTIME_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <cstdint>

#include "absl/status/status.h"

#include "reverb/cc/wire/limits.h"

namespace reverb::rpc {

// Called before gRPC is used: refuses a forked child of a process that had
// used it (FailedPrecondition), and sends gRPC's own log lines, which are for
// debugging, to our log at level info unless GRPC_VERBOSITY or GRPC_TRACE asks
// for them. Thread-safe, cheap after the first call.
absl::Status UseGrpc();

// How often a client may ping a server of ours, and does, to notice that it
// has gone. A 0.14 server tolerates no pings.
inline constexpr int64_t kPingPeriodMs = 10'000;

// Of every channel: 0.14's balancing and back-off, messages as long as
// protobuf allows; `pings` as above.
grpc::ChannelArguments ChannelArgs(bool pings);

// Of every server: no sharing of its port, pings permitted, messages bounded.
void SetServerArgs(const Limits& limits, grpc::ServerBuilder& builder);

}  // namespace reverb::rpc

#endif  // REVERB_CC_RPC_RUNTIME_H_
