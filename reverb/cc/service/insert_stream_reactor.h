// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// InsertStream: messages go to an insert session, its confirmations come back.
//
// Reads on while the session is ready for more. Ends
//   - with OK after the client's half-close, when every insert was confirmed
//     or refused;
//   - with the session's error, after the confirmations there are;
//   - when the client cancels; its queued inserts stay queued.

#ifndef REVERB_CC_SERVICE_INSERT_STREAM_REACTOR_H_
#define REVERB_CC_SERVICE_INSERT_STREAM_REACTOR_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/engine/session.h"
#include "reverb/cc/service/stream_reactor.h"

namespace reverb {

class InsertStreamReactor final : public StreamReactor {
 public:
  InsertStreamReactor(std::shared_ptr<ServerCore> core,
                      grpc::CallbackServerContext* context);

 private:
  void Step() override;
  void CloseSession() override;

  absl::Status Handle(grpc::ByteBuffer& buffer);

  const std::shared_ptr<ServerCore> core_;
  // That the stream continues; empty: none.
  absl::StatusOr<std::string> session_id_;
  std::shared_ptr<InsertSession> session_;
  absl::Status error_;  // why the stream is to end
};

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_INSERT_STREAM_REACTOR_H_
