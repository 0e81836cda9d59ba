// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/server_core.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/engine/insert_session.h"
#include "reverb/cc/engine/sample_session.h"
#include "reverb/cc/engine/session_turn.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

// Adds `session` to `sessions`, after removing the dead when the list would
// have to grow: amortised O(1), and never more than twice the living.
template <typename Session>
void Register(const std::shared_ptr<Session>& session,
              std::vector<std::weak_ptr<Session>>& sessions) {
  if (sessions.size() == sessions.capacity()) {
    sessions.erase(
        std::remove_if(sessions.begin(), sessions.end(),
                       [](const auto& weak) { return weak.expired(); }),
        sessions.end());
    sessions.reserve(2 * sessions.size() + 8);
  }
  sessions.push_back(session);
}

std::string QuotedNames(std::vector<absl::string_view> names) {
  std::sort(names.begin(), names.end());
  return absl::StrJoin(names, ", ", [](std::string* out, absl::string_view s) {
    absl::StrAppend(out, "'", s, "'");
  });
}

}  // namespace

absl::Status ServerIsStoppingError() {
  return absl::UnavailableError("the server is stopping");
}

absl::Status ClosedTableError(const absl::Status& status, bool stopping) {
  if (stopping) return ServerIsStoppingError();
  return absl::FailedPreconditionError(absl::StrCat(
      status.message(), ": another server that had it was stopped"));
}

absl::StatusOr<std::shared_ptr<ServerCore>> ServerCore::Create(
    std::vector<std::shared_ptr<Table>> tables, const Limits& limits,
    const Clock& clock) {
  if (tables.empty()) {
    return absl::InvalidArgumentError("a server needs at least one table");
  }
  absl::flat_hash_map<absl::string_view, int> uses;
  for (const auto& table : tables) {
    if (table == nullptr) {
      return absl::InvalidArgumentError("a table of the server is null");
    }
    ++uses[table->name()];
  }
  std::vector<absl::string_view> repeated;
  for (const auto& [name, count] : uses) {
    if (count > 1) repeated.push_back(name);
  }
  if (!repeated.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the tables of a server must have distinct names; used "
                     "more than once: ",
                     QuotedNames(std::move(repeated))));
  }
  return std::shared_ptr<ServerCore>(
      new ServerCore(std::move(tables), limits, clock));
}

ServerCore::ServerCore(std::vector<std::shared_ptr<Table>> tables,
                       const Limits& limits, const Clock& clock)
    : tables_(std::move(tables)),
      limits_(limits),
      clock_(clock),
      state_id_{.high = RandomKey(), .low = RandomKey()},
      server_id_(absl::StrFormat("%016x%016x", RandomKey(), RandomKey())),
      sessions_(clock) {
  for (const auto& table : tables_) by_name_.emplace(table->name(), table);
}

absl::StatusOr<std::shared_ptr<Table>> ServerCore::FindTable(
    absl::string_view name) const {
  const auto it = by_name_.find(name);
  if (it != by_name_.end()) return it->second;
  std::vector<absl::string_view> names;
  for (const auto& [known, table] : by_name_) names.push_back(known);
  return WithErrorInfo(
      absl::NotFoundError(absl::StrCat(
          "Priority table ", CutStatusText(name),
          " was not found. The server has: ", QuotedNames(std::move(names)))),
      {.table = std::string(name)});
}

std::shared_ptr<InsertSession> ServerCore::OpenInsertSession(
    std::weak_ptr<SessionListener> listener, const std::string& session_id) {
  TurnScope turns;
  auto session = std::make_shared<CoreInsertSession>(shared_from_this(),
                                                     std::move(listener));
  bool closed;
  {
    MutexLock lock(mu_);
    closed = closed_;
    if (!closed) Register(session, insert_sessions_);
  }
  if (closed) session->Stop();
  if (!session_id.empty()) session->Join(session_id, sessions_);
  return session;
}

std::shared_ptr<SampleSession> ServerCore::OpenSampleSession(
    std::weak_ptr<SessionListener> listener) {
  auto session = std::make_shared<CoreSampleSession>(shared_from_this(),
                                                     std::move(listener));
  bool closed;
  {
    MutexLock lock(mu_);
    closed = closed_;
    if (!closed) Register(session, sample_sessions_);
  }
  if (closed) session->Stop();
  return session;
}

absl::Status ServerCore::MutatePriorities(
    absl::string_view table, absl::Span<const PriorityUpdate> updates,
    absl::Span<const ItemKey> deletes) {
  TurnScope turns;
  if (closed()) return ServerIsStoppingError();
  REVERB_ASSIGN_OR_RETURN(const auto found, FindTable(table));
  return found->Mutate(updates, deletes);
}

absl::Status ServerCore::Reset(absl::string_view table) {
  TurnScope turns;
  if (closed()) return ServerIsStoppingError();
  REVERB_ASSIGN_OR_RETURN(const auto found, FindTable(table));
  return found->Reset();
}

std::vector<Table::Info> ServerCore::Info() const {
  std::vector<Table::Info> infos;
  infos.reserve(tables_.size());
  for (const auto& table : tables_) infos.push_back(table->GetInfo());
  return infos;
}

void ServerCore::Close() {
  TurnScope turns;
  std::vector<std::weak_ptr<CoreInsertSession>> insert_sessions;
  std::vector<std::weak_ptr<CoreSampleSession>> sample_sessions;
  {
    MutexLock lock(mu_);
    closed_ = true;
    insert_sessions.swap(insert_sessions_);
    sample_sessions.swap(sample_sessions_);
  }
  // Tables first: a session then knows all that was inserted before it ends.
  for (const auto& table : tables_) table->Close();
  for (const auto& weak : insert_sessions) {
    if (const auto session = weak.lock()) session->Stop();
  }
  for (const auto& weak : sample_sessions) {
    if (const auto session = weak.lock()) session->Stop();
  }
}

bool ServerCore::closed() const {
  MutexLock lock(mu_);
  return closed_;
}

}  // namespace reverb
