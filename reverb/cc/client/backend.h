// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The way to a server: over gRPC, or straight to the engine of this process.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_BACKEND_H_
#define REVERB_CC_CLIENT_BACKEND_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/insert_connection.h"
#include "reverb/cc/client/sample_stream.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/table/table.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual absl::Status MutatePriorities(
      absl::string_view table, absl::Span<const PriorityUpdate> updates,
      absl::Span<const ItemKey> deletes, const WaitOptions& wait) = 0;
  virtual absl::Status Reset(absl::string_view table,
                             const WaitOptions& wait) = 0;
  virtual absl::StatusOr<std::string> Checkpoint(const WaitOptions& wait) = 0;
  virtual absl::StatusOr<ServerInfoMessage> ServerInfo(
      const WaitOptions& wait) = 0;

  // Neither blocks; both may fail later.
  // `session_id`: 32 hex digits that name the stream which it serves.
  virtual std::shared_ptr<InsertConnection> NewInsertConnection(
      const std::string& session_id) = 0;
  virtual std::unique_ptr<SampleStream> NewSampleStream() = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_BACKEND_H_
