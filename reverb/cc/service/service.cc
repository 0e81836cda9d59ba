// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/service/insert_stream_reactor.h"
#include "reverb/cc/service/sample_stream_reactor.h"
#include "reverb/cc/service/unary_reactor.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/messages.h"
#include "reverb/cc/wire/records.h"

namespace reverb {
namespace {

using Answer = absl::StatusOr<std::string>;

Answer MutatePriorities(ServerCore& core, absl::string_view request) {
  REVERB_ASSIGN_OR_RETURN(const MutateMessage message,
                          wire::ParseMutateRequest(request));
  REVERB_RETURN_IF_ERROR(
      core.MutatePriorities(message.table, message.updates, message.deletes));
  return std::string();
}

Answer Reset(ServerCore& core, absl::string_view request) {
  REVERB_ASSIGN_OR_RETURN(const std::string table,
                          wire::ParseResetRequest(request));
  REVERB_RETURN_IF_ERROR(core.Reset(table));
  return std::string();
}

Answer ServerInfo(ServerCore& core, absl::string_view request) {
  REVERB_RETURN_IF_ERROR(wire::CheckEmptyRequest(request));
  if (core.closed()) return ServerIsStoppingError();
  return wire::BuildServerInfoResponse(core.state_id(), core.Info());
}

Answer Checkpoint(ServerCore&, absl::string_view request) {
  REVERB_RETURN_IF_ERROR(wire::CheckEmptyRequest(request));
  return absl::UnimplementedError("this server has no checkpointer yet");
}

// 0.14's way into the process of the server ends here for everybody: an
// address is of no use to another process, and none of its business.
Answer InitializeConnection(ServerCore&, absl::string_view request) {
  REVERB_RETURN_IF_ERROR(wire::CheckInitializeConnectionRequest(request));
  return std::string();  // address: 0
}

struct UnaryMethod {
  const char* path;
  Answer (*handle)(ServerCore&, absl::string_view);
  bool request_required;
};

constexpr UnaryMethod kUnaryMethods[] = {
    {rpc::kMutatePrioritiesMethod, MutatePriorities, true},
    {rpc::kResetMethod, Reset, true},
    {rpc::kServerInfoMethod, ServerInfo, true},
    {rpc::kCheckpointMethod, Checkpoint, true},
    // A stream by name: its client may also leave it without a word.
    {rpc::kInitializeConnectionMethod, InitializeConnection, false},
};

// Ends a call of an unknown method.
class UnknownMethodReactor final : public grpc::ServerGenericBidiReactor {
 public:
  explicit UnknownMethodReactor(const std::string& method) {
    Finish(grpc::Status(
        grpc::StatusCode::UNIMPLEMENTED,
        absl::StrCat("there is no method ", method.substr(0, 200))));
  }
  void OnDone() override { delete this; }
};

}  // namespace

Service::Service(std::shared_ptr<ServerCore> core) : core_(std::move(core)) {}

grpc::ServerGenericBidiReactor* Service::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const std::string& method = context->method();
  if (method == rpc::kInsertStreamMethod) {
    return StreamReactor::Launch(
        std::make_shared<InsertStreamReactor>(core_, context));
  }
  if (method == rpc::kSampleStreamMethod) {
    return StreamReactor::Launch(
        std::make_shared<SampleStreamReactor>(core_, context));
  }
  for (const UnaryMethod& unary : kUnaryMethods) {
    if (method != unary.path) continue;
    return new UnaryReactor(
        *core_, context,
        [core = core_, handle = unary.handle](absl::string_view request) {
          return handle(*core, request);
        },
        unary.request_required
            ? absl::InvalidArgumentError("the call came without a request")
            : absl::OkStatus());
  }
  return new UnknownMethodReactor(method);
}

}  // namespace reverb
