// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a call says beside its messages: features and the server's id to begin
// with, the details of its error at the end. A caller that doesn't negotiate
// gets none of it.

#ifndef REVERB_CC_SERVICE_CALL_METADATA_H_
#define REVERB_CC_SERVICE_CALL_METADATA_H_

#include <grpcpp/server_context.h>

#include <optional>
#include <string>

#include "absl/status/status.h"

#include "reverb/cc/engine/server_core.h"

namespace reverb {

class CallMetadata {
 public:
  // `context` outlives this object's use.
  CallMetadata(const ServerCore& core, grpc::CallbackServerContext* context);

  // Before the first message; false if there is nothing to say.
  bool AddInitial();
  // Before the call ends with `status`.
  void AddTrailing(const absl::Status& status);

 private:
  grpc::CallbackServerContext* const context_;
  const std::string server_id_;
  const std::string unix_socket_;        // empty: none
  std::optional<std::string> features_;  // set: the caller negotiates
};

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_CALL_METADATA_H_
