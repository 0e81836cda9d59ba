// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// SampleStream: requests go to a sample session, its samples come back.
//
// Takes samples from the session only when all messages made of the last ones
// were written, so a client that doesn't read holds no more than that and the
// batch being prepared. Reads the next request when the last is complete. Ends
//   - with OK after the client's half-close, when what was requested has been
//     delivered;
//   - with the session's error, after the samples there are;
//   - when the client cancels: what waits in the table is withdrawn.

#ifndef REVERB_CC_SERVICE_SAMPLE_STREAM_REACTOR_H_
#define REVERB_CC_SERVICE_SAMPLE_STREAM_REACTOR_H_

#include <deque>
#include <memory>
#include <string>

#include "absl/status/status.h"

#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/engine/session.h"
#include "reverb/cc/service/stream_reactor.h"
#include "reverb/cc/wire/rope.h"

namespace reverb {

class SampleStreamReactor final : public StreamReactor {
 public:
  SampleStreamReactor(std::shared_ptr<ServerCore> core,
                      grpc::CallbackServerContext* context);

 private:
  void Step() override;
  void CloseSession() override;

  absl::Status Handle(grpc::ByteBuffer& buffer);
  // Makes messages of the samples that are ready.
  void FillOutbox();

  const std::shared_ptr<ServerCore> core_;
  std::shared_ptr<SampleSession> session_;
  std::string table_;  // of the request being served
  std::deque<Rope> outbox_;
};

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_SAMPLE_STREAM_REACTOR_H_
