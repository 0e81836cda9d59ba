// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// absl::Status to grpc::Status and back, with what code reads off an error.
//
// Codes map one to one. Texts are cut to `kMaxStatusText`. ErrorInfo travels
// as the trailer `reverb-error-bin`.
//
// Threads: thread-safe (pure functions).

#ifndef REVERB_CC_RPC_STATUS_H_
#define REVERB_CC_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <optional>
#include <string>

#include "absl/status/status.h"

#include "reverb/cc/rpc/metadata.h"

namespace reverb::rpc {

grpc::Status ToGrpcStatus(const absl::Status& status);

// `status`'s ErrorInfo as the value of the trailer, if it has one that fits
// into a header.
std::optional<std::string> ErrorInfoTrailer(const absl::Status& status);

// What a call ended with, its ErrorInfo taken from the trailers.
absl::Status FromGrpcStatus(const grpc::Status& status,
                            const Metadata& trailers);

}  // namespace reverb::rpc

#endif  // REVERB_CC_RPC_STATUS_H_
