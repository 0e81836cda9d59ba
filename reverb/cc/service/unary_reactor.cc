// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/unary_reactor.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/status.h"

namespace reverb {

UnaryReactor::UnaryReactor(const ServerCore& core,
                           grpc::CallbackServerContext* context,
                           Handler handler, absl::Status without_request)
    : metadata_(core, context),
      handler_(std::move(handler)),
      without_request_(std::move(without_request)) {
  // Goes out with the answer, or with the error.
  metadata_.AddInitial();
  StartRead(&request_);
}

void UnaryReactor::OnReadDone(bool ok) {
  if (!ok) return FinishWith(without_request_);
  absl::StatusOr<std::string> answer;
  {
    rpc::ReceivedMessage request(request_);
    answer = handler_(request.Contiguous());
  }
  if (!answer.ok()) return FinishWith(answer.status());
  response_ = rpc::ToByteBuffer(*std::move(answer));
  StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
}

void UnaryReactor::FinishWith(const absl::Status& status) {
  metadata_.AddTrailing(status);
  Finish(rpc::ToGrpcStatus(status));
}

}  // namespace reverb
