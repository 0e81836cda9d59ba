// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/insert_session.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/engine/session_turn.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/item_message.h"
#include "reverb/cc/wire/limits.h"

namespace reverb {
namespace {

// A client that inserts and doesn't read its confirmations is no longer read
// from when so many wait.
constexpr size_t kMaxUntakenDone = size_t{1} << 20;

// What the wire's parser checks of the items of remote clients.
absl::Status CheckItem(const Item& item, const Limits& limits) {
  const Trajectory& trajectory = item.trajectory();
  const auto num_slices = static_cast<int64_t>(trajectory.slices().size());
  if (num_slices == 0) {
    return absl::InvalidArgumentError("Item trajectory must not be empty.");
  }
  if (num_slices > limits.max_slices_per_item) {
    return wire::LimitError("chunk slices in one item",
                            limits.max_slices_per_item, num_slices);
  }
  // No item has more columns than slices.
  if (num_slices <= limits.max_columns) return absl::OkStatus();
  const int64_t num_columns = trajectory.num_columns();
  if (num_columns <= limits.max_columns) return absl::OkStatus();
  return wire::LimitError("columns in one item", limits.max_columns,
                          num_columns);
}

}  // namespace

class CoreInsertSession::Feed final : public InsertSink {
 public:
  Feed(Table* table, std::weak_ptr<CoreInsertSession> session)
      : table(table), session_(std::move(session)) {}

  void OnInserts(absl::Span<const InsertResult> results) override {
    if (const auto session = session_.lock()) session->Record(*this, results);
  }

  Table* const table;   // outlives the session, which owns the core
  int64_t pending = 0;  // guarded by the session's mu_

 private:
  const std::weak_ptr<CoreInsertSession> session_;
};

CoreInsertSession::CoreInsertSession(std::shared_ptr<ServerCore> core,
                                     std::weak_ptr<SessionListener> listener)
    : core_(std::move(core)),
      listener_(std::move(listener)),
      chunks_(core_->limits().max_unreferenced_bytes) {}

absl::Status CoreInsertSession::Submit(InsertMessage message) {
  TurnScope turns;
  std::vector<Ref<const Chunk>> dropped;
  absl::Status status = SubmitChecked(message, dropped);
  if (!status.ok()) {
    MutexLock lock(mu_);
    FailLocked(status);
  }
  return status;
}

absl::Status CoreInsertSession::SubmitChecked(
    InsertMessage& message, std::vector<Ref<const Chunk>>& dropped) {
  REVERB_RETURN_IF_ERROR(status());
  if (message.chunks.empty() && message.items.empty()) {
    return absl::InvalidArgumentError(
        "an insert message needs chunks or items; this one has neither");
  }
  std::vector<Batch> batches;
  std::vector<ItemKey> inserted;  // by an earlier stream of the session
  {
    MutexLock lock(input_mu_);
    REVERB_RETURN_IF_ERROR(CheckNumbers(message));
    chunks_.Add(std::move(message.chunks));
    for (size_t i = 0; i < message.items.size(); ++i) {
      ItemMessage& item = message.items[i];
      REVERB_ASSIGN_OR_RETURN(Ref<Item> resolved, chunks_.Resolve(item));
      if (item.has_empty_column || item.slices.empty()) {
        REVERB_RETURN_IF_ERROR(FeedOf(item.table).status());
        return WithErrorInfo(
            absl::InvalidArgumentError(absl::StrCat(
                "Item trajectory must not be empty. Item ", item.key,
                " of table '", item.table, "' has ",
                item.slices.empty() ? "no data" : "an empty column")),
            {.table = item.table});
      }
      const uint64_t number = joined_.log ? message.item_seqs[i] : 0;
      if (joined_.log &&
          joined_.log->Find(number) == InsertLog::State::kInserted) {
        inserted.push_back(item.key);
        continue;
      }
      REVERB_RETURN_IF_ERROR(AddToBatch(item.table,
                                        {.item = std::move(resolved),
                                         .priority = item.priority,
                                         .tag = number},
                                        batches));
    }
    if (joined_.log && !message.item_seqs.empty()) {
      last_number_ = message.item_seqs.back();
    }
    // As 0.14: the list of a message without items means nothing.
    if (!message.items.empty()) {
      REVERB_RETURN_IF_ERROR(
          chunks_.KeepOnly(message.keep_chunk_keys, dropped));
    }
    REVERB_RETURN_IF_ERROR(chunks_.CheckSize());
  }
  if (!inserted.empty()) {
    {
      MutexLock lock(mu_);
      done_.confirmed.insert(done_.confirmed.end(), inserted.begin(),
                             inserted.end());
    }
    Notify();
  }
  if (batches.empty()) return absl::OkStatus();

  SteadyTime deadline = kNoDeadline;
  const bool try_once = message.wait_ms.has_value() && *message.wait_ms <= 0;
  if (message.wait_ms.has_value() && !try_once) {
    deadline = DeadlineAfter(core_->clock().Now(),
                             static_cast<double>(*message.wait_ms) / 1000);
  }
  return Queue(std::move(batches), deadline, try_once);
}

absl::Status CoreInsertSession::CheckNumbers(
    const InsertMessage& message) const {
  if (joined_.log == nullptr) return absl::OkStatus();
  if (message.item_seqs.size() != message.items.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a message of a session has ", message.items.size(), " items and ",
        message.item_seqs.size(), " item_seqs; there must be one each"));
  }
  std::optional<uint64_t> last = last_number_;
  for (const uint64_t number : message.item_seqs) {
    if (last && number <= *last) {
      return absl::InvalidArgumentError(absl::StrCat(
          "item_seqs of a stream must increase; ", number, " follows ", *last));
    }
    if (joined_.log->Find(number) == InsertLog::State::kForgotten) {
      return absl::InvalidArgumentError(absl::StrCat(
          "item_seqs must be less than ", SeenNumbers::kReach,
          " behind the largest that was inserted; ", number, " is not"));
    }
    last = number;
  }
  return absl::OkStatus();
}

void CoreInsertSession::Join(const std::string& id, SessionStore& store) {
  joined_ = {.id = id, .store = &store, .log = store.Open(id)};
  std::shared_ptr<CoreInsertSession> before =
      joined_.log->SetStream(shared_from_this());
  if (before == nullptr) return;
  {
    MutexLock lock(mu_);
    predecessor_ = before;
  }
  before->Supersede(weak_from_this());
}

absl::Status CoreInsertSession::SubmitLocal(std::vector<LocalItem> items,
                                            SteadyTime deadline,
                                            bool try_once) {
  TurnScope turns;
  absl::Status status = this->status();
  std::vector<Batch> batches;
  if (status.ok()) {
    MutexLock lock(input_mu_);
    for (LocalItem& item : items) {
      status = CheckItem(*item.item, core_->limits());
      if (status.ok()) {
        status = AddToBatch(
            item.table,
            {.item = std::move(item.item), .priority = item.priority}, batches);
      }
      if (!status.ok()) break;
    }
  }
  if (status.ok()) status = Queue(std::move(batches), deadline, try_once);
  if (!status.ok()) {
    MutexLock lock(mu_);
    FailLocked(status);
  }
  return status;
}

absl::Status CoreInsertSession::AddToBatch(absl::string_view table,
                                           InsertRequest request,
                                           std::vector<Batch>& batches) {
  // Items mostly come in runs for one table, and tables are few.
  Batch* batch = nullptr;
  for (size_t i = batches.size(); i > 0 && batch == nullptr; --i) {
    if (batches[i - 1].feed->table->name() == table) batch = &batches[i - 1];
  }
  if (batch == nullptr) {
    REVERB_ASSIGN_OR_RETURN(Feed * feed, FeedOf(table));
    batches.push_back({.feed = feed, .requests = {}});
    batch = &batches.back();
  }
  const Table& target = *batch->feed->table;
  REVERB_RETURN_IF_ERROR(target.CheckPriority(request.priority));
  batch->requests.push_back(std::move(request));
  return absl::OkStatus();
}

absl::StatusOr<CoreInsertSession::Feed*> CoreInsertSession::FeedOf(
    absl::string_view table) {
  REVERB_ASSIGN_OR_RETURN(const std::shared_ptr<Table> found,
                          core_->FindTable(table));
  MutexLock lock(mu_);
  std::shared_ptr<Feed>& feed = feeds_[found->name()];
  if (feed == nullptr) {
    feed = std::make_shared<Feed>(found.get(), weak_from_this());
  }
  return feed.get();
}

absl::Status CoreInsertSession::Queue(std::vector<Batch> batches,
                                      SteadyTime deadline, bool try_once) {
  std::vector<std::shared_ptr<Feed>> sinks;
  {
    MutexLock lock(mu_);
    if (!status_.ok()) return status_;
    if (closed_) return absl::CancelledError("the insert session was closed");
    last_feeds_.clear();
    for (const Batch& batch : batches) {
      const auto added = static_cast<int64_t>(batch.requests.size());
      batch.feed->pending += added;
      num_pending_ += added;
      last_feeds_.push_back(batch.feed);
      sinks.push_back(feeds_[batch.feed->table->name()]);
    }
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    batches[i].feed->table->Insert(std::move(batches[i].requests),
                                   std::move(sinks[i]), deadline, try_once);
  }
  bool withdrawn;
  {
    MutexLock lock(mu_);
    withdrawn = withdrawn_;
  }
  // Closed in between: `Close` may have looked before the tables had them.
  if (withdrawn) Withdraw();
  return absl::OkStatus();
}

bool CoreInsertSession::ReadyForMore() {
  std::shared_ptr<CoreInsertSession> predecessor;
  {
    MutexLock lock(mu_);
    predecessor = predecessor_;
  }
  if (predecessor != nullptr) {
    // Whatever it waits for tells us.
    if (!predecessor->IsOver()) return false;
    MutexLock lock(mu_);
    predecessor_ = nullptr;
  }
  absl::InlinedVector<Table*, 1> waited_for;
  {
    MutexLock lock(mu_);
    if (!status_.ok() || closed_) return false;
    if (done_.confirmed.size() + done_.refused.size() > kMaxUntakenDone) {
      return false;
    }
    for (const Feed* feed : last_feeds_) {
      // Without an insert of our own in the queue nothing would tell us when
      // it has shrunk; its length is then the other streams' business.
      if (feed->pending > 0) waited_for.push_back(feed->table);
    }
  }
  for (const Table* table : waited_for) {
    if (table->InsertQueueIsFull()) return false;
  }
  return true;
}

InsertDone CoreInsertSession::TakeDone() {
  MutexLock lock(mu_);
  return std::exchange(done_, InsertDone());
}

int64_t CoreInsertSession::num_pending() {
  MutexLock lock(mu_);
  return num_pending_;
}

absl::Status CoreInsertSession::status() {
  MutexLock lock(mu_);
  return status_;
}

void CoreInsertSession::Close(bool withdraw) {
  TurnScope turns;
  // The client sends what waits once more, on its next stream.
  if (joined_.log != nullptr) withdraw = true;
  bool leaves;
  {
    MutexLock lock(mu_);
    closed_ = true;
    withdrawn_ = withdrawn_ || withdraw;
    leaves = !std::exchange(left_session_, true);
    FailLocked(absl::CancelledError("the insert session was closed"));
  }
  if (withdraw) Withdraw();
  if (leaves && joined_.store != nullptr) joined_.store->Close(joined_.id);
}

void CoreInsertSession::Supersede(std::weak_ptr<CoreInsertSession> successor) {
  TurnScope turns;
  {
    MutexLock lock(mu_);
    closed_ = withdrawn_ = true;
    successor_ = std::move(successor);
    FailLocked(absl::AbortedError(
        "another stream has taken this stream's insert session over"));
  }
  Withdraw();
  Notify();
}

void CoreInsertSession::OnSettled() {
  if (joined_.log != nullptr) joined_.log->LetGo(this);
  // The next one may have been superseded too, before it could begin.
  const auto next_of = [](CoreInsertSession& session) {
    MutexLock lock(session.mu_);
    return session.successor_.lock();
  };
  for (auto next = next_of(*this); next != nullptr; next = next_of(*next)) {
    next->Notify();
  }
}

bool CoreInsertSession::IsOver() {
  std::shared_ptr<CoreInsertSession> before;
  {
    MutexLock lock(mu_);
    if (num_pending_ > 0) return false;
    before = predecessor_;
  }
  return before == nullptr || before->IsOver();
}

void CoreInsertSession::Stop() {
  {
    MutexLock lock(mu_);
    FailLocked(ServerIsStoppingError());
  }
  Notify();
}

void CoreInsertSession::Withdraw() {
  std::vector<std::shared_ptr<Feed>> feeds;
  {
    MutexLock lock(mu_);
    for (const auto& [name, feed] : feeds_) feeds.push_back(feed);
  }
  for (const auto& feed : feeds) {
    const auto withdrawn =
        static_cast<int64_t>(feed->table->WithdrawInserts(feed.get()).size());
    MutexLock lock(mu_);
    feed->pending -= withdrawn;
    num_pending_ -= withdrawn;
  }
  bool settled;
  {
    MutexLock lock(mu_);
    settled = IsSettledLocked();
  }
  if (settled) OnSettled();
}

void CoreInsertSession::FailLocked(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void CoreInsertSession::Record(Feed& feed,
                               absl::Span<const InsertResult> results) {
  const bool stopping = core_->closed();
  // First of all: once nothing is pending, the next stream may begin.
  if (joined_.log != nullptr) {
    for (const InsertResult& result : results) {
      if (result.status.ok()) joined_.log->Add(result.tag);
    }
  }
  bool closed;
  bool settled;
  {
    MutexLock lock(mu_);
    feed.pending -= static_cast<int64_t>(results.size());
    num_pending_ -= static_cast<int64_t>(results.size());
    closed = closed_;
    settled = IsSettledLocked();
  }
  if (settled) OnSettled();
  if (closed) return;
  {
    MutexLock lock(mu_);
    for (const InsertResult& result : results) {
      switch (result.status.code()) {
        case absl::StatusCode::kOk:
          done_.confirmed.push_back(result.key);
          break;
        case absl::StatusCode::kDeadlineExceeded:
          done_.refused.push_back(result.key);
          break;
        case absl::StatusCode::kCancelled:
          // The table was closed: what it had not inserted is not confirmed.
          FailLocked(ClosedTableError(result.status, stopping));
          break;
        default:
          FailLocked(result.status);
      }
    }
  }
  Notify();
}

void CoreInsertSession::Notify() {
  if (const auto listener = listener_.lock()) listener->OnProgress();
}

}  // namespace reverb
