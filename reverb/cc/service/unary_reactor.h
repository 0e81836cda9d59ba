// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A call of one request and one answer, which is handled at once on gRPC's
// thread. States: reading, then finishing; OnDone deletes.

#ifndef REVERB_CC_SERVICE_UNARY_REACTOR_H_
#define REVERB_CC_SERVICE_UNARY_REACTOR_H_

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/service/call_metadata.h"

namespace reverb {

class UnaryReactor final : public grpc::ServerGenericBidiReactor {
 public:
  // The answer's bytes, or the call's error. Must not block for long.
  using Handler = std::function<absl::StatusOr<std::string>(absl::string_view)>;

  // `without_request`: how a call ends whose caller sent nothing.
  UnaryReactor(const ServerCore& core, grpc::CallbackServerContext* context,
               Handler handler, absl::Status without_request);

  void OnReadDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  void FinishWith(const absl::Status& status);

  CallMetadata metadata_;
  const Handler handler_;
  const absl::Status without_request_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
};

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_UNARY_REACTOR_H_
