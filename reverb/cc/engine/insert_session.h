// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The insert session of a server core: messages in, confirmations out.

#ifndef REVERB_CC_ENGINE_INSERT_SESSION_H_
#define REVERB_CC_ENGINE_INSERT_SESSION_H_

#include <cstdint>
#include <memory>
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

  absl::Status SubmitChecked(InsertMessage& message,
                             std::vector<Ref<const Chunk>>& dropped);
  // Adds an item to its table's batch after checking table and priority.
  absl::Status AddToBatch(absl::string_view table, double priority,
                          Ref<Item> item, std::vector<Batch>& batches)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(input_mu_);
  absl::StatusOr<Feed*> FeedOf(absl::string_view table)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(input_mu_);
  // Hands checked batches to their tables.
  absl::Status Queue(std::vector<Batch> batches, SteadyTime deadline,
                     bool try_once);
  void Withdraw();
  // The first error stays.
  void FailLocked(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Record(Feed& feed, absl::Span<const InsertResult> results);
  void Notify();

  const std::shared_ptr<ServerCore> core_;
  const std::weak_ptr<SessionListener> listener_;

  // Held while a message is checked; taken before `mu_`.
  Mutex input_mu_ ABSL_ACQUIRED_BEFORE(mu_);
  ChunkCache chunks_ ABSL_GUARDED_BY(input_mu_);

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
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_INSERT_SESSION_H_
