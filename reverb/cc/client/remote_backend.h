// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A server behind gRPC: unary calls, and the streams' calls.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_REMOTE_BACKEND_H_
#define REVERB_CC_CLIENT_REMOTE_BACKEND_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "reverb/cc/client/backend.h"
#include "reverb/cc/client/channel.h"

namespace reverb {

class Endpoint;

class RemoteBackend final : public Backend {
 public:
  // `endpoint` owns this object.
  explicit RemoteBackend(Endpoint& endpoint);

  absl::Status MutatePriorities(absl::string_view table,
                                absl::Span<const PriorityUpdate> updates,
                                absl::Span<const ItemKey> deletes,
                                const WaitOptions& wait) override;
  absl::Status Reset(absl::string_view table, const WaitOptions& wait) override;
  absl::StatusOr<std::string> Checkpoint(const WaitOptions& wait) override;
  absl::StatusOr<ServerInfoMessage> ServerInfo(
      const WaitOptions& wait) override;

  std::shared_ptr<InsertConnection> NewInsertConnection(
      const std::string& session_id) override;
  std::unique_ptr<SampleStream> NewSampleStream() override;

  bool HasOneAddress() { return channels_->HasOneAddress(); }
  bool UsesUnixSocket() { return channels_->UsesUnixSocket(); }
  int64_t generation() { return channels_->generation(); }

 private:
  struct CallOptions {
    const char* method = nullptr;
    bool wait_for_ready = true;
    bool repeatable = false;  // may be sent again when the connection broke
    bool read_features = false;
  };
  // The response's bytes.
  absl::StatusOr<std::string> Call(const CallOptions& options,
                                   const std::string& request,
                                   const WaitOptions& wait);

  Endpoint& endpoint_;
  const std::shared_ptr<Channels> channels_;
  // A hint alone: what a stream may use, it has to hear itself.
  std::atomic<bool> expect_wait_{false};
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_REMOTE_BACKEND_H_
