// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/rpc/runtime.h"

#include <grpc/impl/codegen/grpc_types.h>
#include <grpc/support/log.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/log.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb::rpc {
namespace {

// The longest a ping takes to be answered before the connection counts as
// lost.
constexpr int kPingTimeoutMs = 10'000;

void ForwardLog(gpr_log_func_args* args) {
  LogInfo(absl::StrCat("grpc: ", args->message));
}

bool RouteLog() {
  const bool asked = std::getenv("GRPC_VERBOSITY") != nullptr ||
                     std::getenv("GRPC_TRACE") != nullptr;
  if (!asked) gpr_set_log_function(ForwardLog);
  return true;
}

}  // namespace

absl::Status UseGrpc() {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  MarkGrpcUsed();
  [[maybe_unused]] static const bool routed = RouteLog();
  return absl::OkStatus();
}

grpc::ChannelArguments ChannelArgs(bool pings) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  args.SetLoadBalancingPolicyName("round_robin");
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 30'000);
  if (pings) {
    args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(kPingPeriodMs));
    args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
    args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  return args;
}

void SetServerArgs(const Limits& limits, grpc::ServerBuilder& builder) {
  constexpr int64_t kMaxInt = std::numeric_limits<int>::max();
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::clamp<int64_t>(limits.max_message_bytes, 0, kMaxInt)));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Half a period: a ping that was held up must not put the next one too near.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      static_cast<int>(kPingPeriodMs / 2));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

}  // namespace reverb::rpc
