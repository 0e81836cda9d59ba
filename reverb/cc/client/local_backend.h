// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A server of this very process, without bytes on a wire.
//
// Items and chunks are handed over by reference; samples are decoded from the
// chunks that the table holds.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_LOCAL_BACKEND_H_
#define REVERB_CC_CLIENT_LOCAL_BACKEND_H_

#include <memory>
#include <string>
#include <utility>

#include "reverb/cc/client/backend.h"
#include "reverb/cc/engine/server_core.h"

namespace reverb {

class LocalBackend final : public Backend {
 public:
  explicit LocalBackend(std::shared_ptr<ServerCore> core)
      : core_(std::move(core)) {}

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

 private:
  const std::shared_ptr<ServerCore> core_;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_LOCAL_BACKEND_H_
