// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The insert session of a server core: messages in, confirmations out.

#ifndef REVERB_CC_ENGINE_INSERT_SESSION_H_
#define REVERB_CC_ENGINE_INSERT_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/engine/chunk_cache.h"
#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/engine/session.h"
#include "reverb/cc/engine/session_store.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/table/table.h"

namespace reverb {

class CoreInsertSession final
    : public InsertSession,
      public std::enable_shared_from_this<CoreInsertSession> {
 public:
  CoreInsertSession(std::shared_ptr<ServerCore> core,
                    std::weak_ptr<SessionListener> listener);

  absl::Status Submit(InsertMessage message) override;
  absl::Status SubmitLocal(std::vector<LocalItem> items, SteadyTime deadline,
                           bool try_once) override;
  bool ReadyForMore() override;
  InsertDone TakeDone() override;
  int64_t num_pending() override;
  absl::Status status() override;
  void Close(bool withdraw) override;

  // Makes this stream the one that continues session `id`. Once, before all
  // else. A stream that has it still is ended (Aborted); nothing is taken from
  // this one before all that the other has inserted is known.
  void Join(const std::string& id, SessionStore& store);

  // The server stops: nothing more is taken. Inserts that wait were failed by
  // their tables.
  void Stop();

 private:
  // Hears from one table. The table keeps it alive while inserts wait there,
  // the session is only reached as long as somebody owns it.
  class Feed;
  // Items of one message for one table, in order.
  struct Batch {
    Feed* feed = nullptr;
    std::vector<InsertRequest> requests;
  };
  // The session that streams continue one after the other.
  struct Joined {
    std::string id;
    SessionStore* store = nullptr;  // the core's
    std::shared_ptr<InsertLog> log;
  };

  absl::Status SubmitChecked(InsertMessage& message,
                             std::vector<Ref<const Chunk>>& dropped);
  // Adds an item to its table's batch after checking table and priority.
  absl::Status AddToBatch(absl::string_view table, InsertRequest request,
                          std::vector<Batch>& batches)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(input_mu_);
  // Whether the message's items are numbered as those of a session must be.
  absl::Status CheckNumbers(const InsertMessage& message) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(input_mu_);
  absl::StatusOr<Feed*> FeedOf(absl::string_view table)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(input_mu_);
  // Hands checked batches to their tables.
  absl::Status Queue(std::vector<Batch> batches, SteadyTime deadline,
                     bool try_once);
  void Withdraw();
  // Another stream continues the session.
  void Supersede(std::weak_ptr<CoreInsertSession> successor);
  // Whether everything that was queued has been answered or withdrawn.
  bool IsSettledLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return closed_ && num_pending_ == 0;
  }
  // After the stream has settled: lets the next one begin.
  void OnSettled();
  // Whether all that this stream and those before it have inserted is known.
  bool IsOver();
  // The first error stays.
  void FailLocked(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Record(Feed& feed, absl::Span<const InsertResult> results);
  void Notify();

  const std::shared_ptr<ServerCore> core_;
  const std::weak_ptr<SessionListener> listener_;

  // Held while a message is checked; taken before `mu_`.
  Mutex input_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  ChunkCache chunks_ ABSL_GUARDED_BY(input_mu_);
  std::optional<uint64_t> last_number_ ABSL_GUARDED_BY(input_mu_);

  Joined joined_;  // set by `Join`

  Mutex mu_;
  // Feeds are added under both mutexes and never removed.
  absl::flat_hash_map<absl::string_view, std::shared_ptr<Feed>> feeds_
      ABSL_GUARDED_BY(mu_);
  // Of the last message with items.
  absl::InlinedVector<Feed*, 1> last_feeds_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  InsertDone done_ ABSL_GUARDED_BY(mu_);
  int64_t num_pending_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool withdrawn_ ABSL_GUARDED_BY(mu_) = false;
  bool left_session_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<CoreInsertSession> predecessor_ ABSL_GUARDED_BY(mu_);
  std::weak_ptr<CoreInsertSession> successor_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_INSERT_SESSION_H_
