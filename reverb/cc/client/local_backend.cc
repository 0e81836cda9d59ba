// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/local_backend.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"

#include "reverb/cc/client/local_insert.h"
#include "reverb/cc/client/local_sample.h"
#include "reverb/cc/wire/messages.h"

namespace reverb {

absl::Status LocalBackend::MutatePriorities(
    absl::string_view table, absl::Span<const PriorityUpdate> updates,
    absl::Span<const ItemKey> deletes, const WaitOptions& /*wait*/) {
  return core_->MutatePriorities(table, updates, deletes);
}

absl::Status LocalBackend::Reset(absl::string_view table,
                                 const WaitOptions& /*wait*/) {
  return core_->Reset(table);
}

absl::StatusOr<std::string> LocalBackend::Checkpoint(
    const WaitOptions& /*wait*/) {
  return absl::UnimplementedError("checkpoints are not offered by this server");
}

absl::StatusOr<ServerInfoMessage> LocalBackend::ServerInfo(
    const WaitOptions& /*wait*/) {
  ServerInfoMessage message;
  message.state_id = core_->state_id();
  for (Table::Info& info : core_->Info()) {
    std::string bytes = wire::BuildTableInfo(info);
    message.tables.push_back({.name = std::move(info.name),
                              .signature = std::move(info.signature),
                              .max_times_sampled = info.max_times_sampled,
                              .bytes = std::move(bytes)});
  }
  return message;
}

std::shared_ptr<InsertConnection> LocalBackend::NewInsertConnection(
    const std::string& /*session_id*/) {
  return NewLocalInsertConnection(core_);
}

std::unique_ptr<SampleStream> LocalBackend::NewSampleStream() {
  return NewLocalSampleStream(core_);
}

}  // namespace reverb
