// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The server without a transport: tables, and the sessions of its clients.
//
// Threads: thread-safe.

#ifndef REVERB_CC_ENGINE_SERVER_CORE_H_
#define REVERB_CC_ENGINE_SERVER_CORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/engine/session.h"
#include "reverb/cc/engine/session_store.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/table/table.h"
#include "reverb/cc/wire/limits.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

class CoreInsertSession;
class CoreSampleSession;

// Unavailable: how sessions and calls end when their server stops.
absl::Status ServerIsStoppingError();
// How they end when a table is closed: `status` is what the table said. A
// table that is served twice is closed by the first server that stops; then
// the other goes on, and coming back to it is in vain (FailedPrecondition).
absl::Status ClosedTableError(const absl::Status& status, bool stopping);

class ServerCore : public std::enable_shared_from_this<ServerCore> {
 public:
  // InvalidArgument if there are no tables or two share a name (all such
  // names are listed).
  static absl::StatusOr<std::shared_ptr<ServerCore>> Create(
      std::vector<std::shared_ptr<Table>> tables, const Limits& limits = {},
      const Clock& clock = Clock::Real());
  // Leaves the tables open: a server that could not start hasn't taken them.
  ~ServerCore() = default;

  // NotFound "Priority table NAME was not found", with the names there are.
  absl::StatusOr<std::shared_ptr<Table>> FindTable(
      absl::string_view name) const;
  absl::Span<const std::shared_ptr<Table>> tables() const { return tables_; }
  const Limits& limits() const { return limits_; }
  const Clock& clock() const { return clock_; }

  // Random, drawn at creation: clients that see another one refresh their
  // signatures.
  const StateId& state_id() const { return state_id_; }
  // 32 hex digits that name this server for its life.
  const std::string& server_id() const { return server_id_; }
  // Where clients on this host reach the server too; empty: nowhere. Set
  // before the first call is served.
  const std::string& unix_socket() const { return unix_socket_; }
  void set_unix_socket(std::string path) { unix_socket_ = std::move(path); }

  // `session_id`: the session that the stream continues; empty: none.
  std::shared_ptr<InsertSession> OpenInsertSession(
      std::weak_ptr<SessionListener> listener,
      const std::string& session_id = "");
  std::shared_ptr<SampleSession> OpenSampleSession(
      std::weak_ptr<SessionListener> listener);

  absl::Status MutatePriorities(absl::string_view table,
                                absl::Span<const PriorityUpdate> updates,
                                absl::Span<const ItemKey> deletes);
  absl::Status Reset(absl::string_view table);
  std::vector<Table::Info> Info() const;

  // Closes the tables and ends every session with `ServerIsStoppingError`;
  // what a table had inserted by then is still to be taken. For good; may be
  // called twice.
  void Close();
  bool closed() const;

 private:
  ServerCore(std::vector<std::shared_ptr<Table>> tables, const Limits& limits,
             const Clock& clock);

  const std::vector<std::shared_ptr<Table>> tables_;
  const Limits limits_;
  const Clock& clock_;
  const StateId state_id_;
  const std::string server_id_;
  std::string unix_socket_;
  absl::flat_hash_map<absl::string_view, std::shared_ptr<Table>> by_name_;
  SessionStore sessions_;

  mutable Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  // For `Close`. Sessions that are gone are swept out now and then.
  std::vector<std::weak_ptr<CoreInsertSession>> insert_sessions_
      ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<CoreSampleSession>> sample_sessions_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_SERVER_CORE_H_
