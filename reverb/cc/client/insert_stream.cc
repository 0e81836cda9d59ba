// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/insert_stream.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/insert_connection.h"
#include "reverb/cc/support/executor.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

// A connection that lived this long, or confirmed anything, was a good one:
// what follows is a new loss.
constexpr std::chrono::seconds kGoodLife{2};

// Items from the oldest unconfirmed one on that may be under way: as far back
// a server remembers which it has inserted.
constexpr uint64_t kMaxAhead = 4096;

// What is sent without waiting for more, and how long the rest waits.
constexpr uint64_t kWorthABatchItems = 64;
constexpr size_t kWorthABatchBytes = size_t{64} << 10;
constexpr std::chrono::milliseconds kMaxHold{1};

// About; shared chunks count with every item.
size_t SizeToSend(const OutgoingItem& item) {
  if (item.charged_bytes > 0) return item.charged_bytes;
  return item.item->trajectory().slices().front().chunk->bytes().size();
}

class ResendingStream final
    : public InsertStream,
      public InsertConnection::Sink,
      public Closable,
      public std::enable_shared_from_this<ResendingStream> {
 public:
  explicit ResendingStream(std::shared_ptr<Endpoint> endpoint)
      : endpoint_(std::move(endpoint)),
        session_id_(absl::StrFormat("%016x%016x", RandomKey(), RandomKey())) {}
  ~ResendingStream() override {
    if (connection_ == nullptr) return;
    if (InForkedChildOfGrpcUser()) {
      // gRPC can't be used there, not even to let go of a call.
      new std::shared_ptr<InsertConnection>(connection_);
    } else {
      connection_->Close();
    }
  }

  absl::Status Append(std::vector<OutgoingItem> items, SteadyTime limit,
                      bool try_once) override;
  void UpdateKept(absl::Span<const Ref<const Chunk>> added,
                  absl::Span<const ChunkKey> removed) override;
  absl::Status AwaitPending(int64_t max_pending,
                            const WaitOptions& wait) override;
  int64_t num_pending() const override {
    MutexLock lock(mu_);
    return num_open_;
  }
  int64_t pending_bytes() const override {
    MutexLock lock(mu_);
    return open_bytes_;
  }
  std::vector<ItemKey> TakeRefused() override {
    MutexLock lock(mu_);
    return std::exchange(refused_, {});
  }
  std::vector<Pending> PendingItems() const override;
  absl::Status status() const override {
    MutexLock lock(mu_);
    return status_;
  }
  absl::Status last_loss() const override;
  void Close() override;

  void OnConnected(const InsertConnection* connection) override;
  void OnReady(const InsertConnection* connection) override;
  void OnUnblocked() override { Pump(); }
  void OnDone(InsertDone done) override;
  void OnProgress(const InsertConnection* connection) override;
  void OnEnded(const InsertConnection* connection,
               absl::Status status) override;

 private:
  // Sends what can be sent, unless another thread is at it.
  void Pump();
  // Makes the next connection the current one; null if it isn't time yet.
  std::shared_ptr<InsertConnection> NextConnectionLocked(
      std::shared_ptr<InsertConnection> made)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Looks after the connection's news, then sends on.
  void Turn();
  // Whether to wait for more: a message costs as much as ten small items. So
  // while items are on their way the next ones gather, until those are
  // confirmed, they are worth a message, somebody waits, or a moment has
  // passed.
  bool HoldsLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ScheduleTurnLocked(SteadyTime when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Marks the item done; moves what has left the window to `gone`.
  bool FinishLocked(ItemKey key, std::vector<WindowItem>& gone)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsConnectedLocked(SteadyTime now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return connection_ != nullptr && connected_ &&
           (good_ || now - connected_at_ >= kGoodLife);
  }
  uint64_t EndLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return base_ + window_.size();
  }
  // Items before this one may be sent: `base_` is the oldest that isn't done.
  uint64_t SendableEndLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return std::min(EndLocked(), base_ + kMaxAhead);
  }

  const std::shared_ptr<Endpoint> endpoint_;
  // Under which a server knows the numbers of our items.
  const std::string session_id_;

  mutable Mutex mu_;
  CondVar changed_;
  // Items by sequence number, the first is `base_`; from `next_` on they are
  // not sent on the current connection.
  std::deque<WindowItem> window_ ABSL_GUARDED_BY(mu_);
  uint64_t base_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t num_open_ ABSL_GUARDED_BY(mu_) = 0;     // not done
  int64_t open_bytes_ ABSL_GUARDED_BY(mu_) = 0;   // charged for those
  size_t unsent_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // about: from `next_` on
  std::optional<SteadyTime> held_since_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<ItemKey, uint64_t> sequence_of_ ABSL_GUARDED_BY(mu_);
  std::vector<ItemKey> refused_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<ChunkKey> kept_ ABSL_GUARDED_BY(mu_);

  std::shared_ptr<InsertConnection> connection_ ABSL_GUARDED_BY(mu_);
  bool connected_ ABSL_GUARDED_BY(mu_) = false;  // reached the server
  bool good_ ABSL_GUARDED_BY(mu_) = false;       // confirmed something
  bool ready_ ABSL_GUARDED_BY(mu_) = false;      // takes a batch
  bool pumping_ ABSL_GUARDED_BY(mu_) = false;
  bool news_ ABSL_GUARDED_BY(mu_) = false;  // the connection wants a `Poll`
  SteadyTime connected_at_ ABSL_GUARDED_BY(mu_){};
  SteadyTime retry_at_ ABSL_GUARDED_BY(mu_){};
  SteadyTime turn_at_ ABSL_GUARDED_BY(mu_) = kNoDeadline;
  Backoff backoff_ ABSL_GUARDED_BY(mu_);
  int num_waiters_ ABSL_GUARDED_BY(mu_) = 0;

  absl::Status last_loss_ ABSL_GUARDED_BY(mu_);
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

absl::Status ResendingStream::Append(std::vector<OutgoingItem> items,
                                     SteadyTime limit, bool try_once) {
  REVERB_RETURN_IF_ERROR(endpoint_->Check());
  {
    MutexLock lock(mu_);
    if (closed_) return absl::CancelledError("the stream was closed");
    if (!status_.ok()) return status_;
    for (OutgoingItem& item : items) {
      sequence_of_[item.item->key()] = EndLocked();
      ++num_open_;
      open_bytes_ += static_cast<int64_t>(item.charged_bytes);
      if (connection_) connection_->OnQueued(*item.item);
      unsent_bytes_ += SizeToSend(item);
      window_.push_back({.outgoing = std::move(item),
                         .sequence = EndLocked(),
                         .limit = limit,
                         .try_once = try_once});
    }
  }
  Pump();
  return absl::OkStatus();
}

void ResendingStream::UpdateKept(absl::Span<const Ref<const Chunk>> added,
                                 absl::Span<const ChunkKey> removed) {
  std::vector<ChunkKey> added_keys;
  added_keys.reserve(added.size());
  for (const Ref<const Chunk>& chunk : added) {
    added_keys.push_back(chunk->key());
  }
  MutexLock lock(mu_);
  for (const ChunkKey key : removed) kept_.erase(key);
  kept_.insert(added_keys.begin(), added_keys.end());
  if (connection_) connection_->OnKeep(added_keys, removed);
}

std::shared_ptr<InsertConnection> ResendingStream::NextConnectionLocked(
    std::shared_ptr<InsertConnection> made) {
  connection_ = std::move(made);
  connected_ = good_ = ready_ = news_ = false;
  next_ = base_;
  connection_->OnKeep(std::vector<ChunkKey>(kept_.begin(), kept_.end()), {});
  // Those that are done too: `Prepare` will come by them all.
  for (const WindowItem& item : window_) {
    connection_->OnQueued(*item.outgoing.item);
  }
  return connection_;
}

void ResendingStream::Pump() {
  MutexLock lock(mu_);
  if (pumping_) return;  // whoever is at it looks again before it leaves
  pumping_ = true;
  while (!closed_ && status_.ok() && next_ < SendableEndLocked()) {
    if (connection_ == nullptr) {
      if (Clock::Real().Now() < retry_at_) {
        ScheduleTurnLocked(retry_at_);
        break;
      }
      lock.Unlock();
      absl::Status allowed = endpoint_->Check();
      std::shared_ptr<InsertConnection> made;
      if (allowed.ok()) {
        made = endpoint_->backend()->NewInsertConnection(session_id_);
      }
      lock.Lock();
      if (!allowed.ok()) {
        if (status_.ok()) status_ = allowed;
        break;
      }
      if (closed_) break;
      made = NextConnectionLocked(std::move(made));
      lock.Unlock();
      made->Start(weak_from_this());
      lock.Lock();
      continue;
    }
    if (!ready_ || HoldsLocked()) break;
    const InsertConnection::Prepared prepared = connection_->Prepare(
        window_, next_ - base_, SendableEndLocked() - base_);
    next_ += prepared.num_items;
    if (next_ == EndLocked()) unsent_bytes_ = 0;
    held_since_.reset();
    if (!prepared.to_send) {
      if (prepared.num_items == 0) break;
      continue;
    }
    ready_ = false;
    const std::shared_ptr<InsertConnection> connection = connection_;
    lock.Unlock();
    connection->Send();
    lock.Lock();
  }
  pumping_ = false;
  if (num_waiters_ > 0 && !status_.ok()) changed_.NotifyAll();
}  // namespace

bool ResendingStream::HoldsLocked() {
  const bool on_their_way = base_ < next_;
  if (!on_their_way || num_waiters_ > 0 || unsent_bytes_ >= kWorthABatchBytes ||
      EndLocked() - next_ >= kWorthABatchItems) {
    return false;
  }
  const SteadyTime now = Clock::Real().Now();
  if (!held_since_) held_since_ = now;
  if (now - *held_since_ >= kMaxHold) return false;
  ScheduleTurnLocked(*held_since_ + kMaxHold);
  return true;
}

void ResendingStream::ScheduleTurnLocked(SteadyTime when) {
  if (turn_at_ <= when) return;
  turn_at_ = when;
  auto turn = [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Turn();
  };
  if (when == SteadyTime::min()) {
    Executor::Default().Post(std::move(turn));
  } else {
    Executor::Default().PostAt(when, std::move(turn));
  }
}

void ResendingStream::Turn() {
  std::shared_ptr<InsertConnection> connection;
  {
    MutexLock lock(mu_);
    turn_at_ = kNoDeadline;
    if (std::exchange(news_, false)) connection = connection_;
  }
  if (connection) connection->Poll();
  Pump();
}

absl::Status ResendingStream::AwaitPending(int64_t max_pending,
                                           const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  AwayTimer away(*endpoint_);
  InterruptPoll interrupt(wait);
  MutexLock lock(mu_);
  ++num_waiters_;
  if (num_open_ > max_pending && (connection_ == nullptr || held_since_)) {
    // Somebody waits now: no reason to sit out a pause that has grown long.
    if (connection_ == nullptr) {
      backoff_.Reset();
      retry_at_ = std::min(retry_at_, Clock::Real().Now());
    }
    lock.Unlock();
    Pump();
    lock.Lock();
  }
  absl::Status result;
  while (result.ok()) {
    if (std::exchange(news_, false) && connection_) {
      const std::shared_ptr<InsertConnection> connection = connection_;
      lock.Unlock();
      connection->Poll();
      lock.Lock();
      continue;
    }
    if (num_open_ <= max_pending) break;
    if (closed_) {
      result = absl::CancelledError("closed while waiting");
      break;
    }
    if (!status_.ok()) {
      result = status_;
      break;
    }
    const SteadyTime now = Clock::Real().Now();
    if (now >= wait.deadline) {
      result = absl::DeadlineExceededError(absl::StrCat(
          "Timeout exceeded before all items were confirmed: ", num_open_,
          " are still pending."));
      break;
    }
    const bool connected = IsConnectedLocked(now);
    lock.Unlock();
    result = endpoint_->Check();
    if (result.ok()) result = away.Check(connected, now);
    if (result.ok()) result = interrupt.Check(now);
    lock.Lock();
    if (result.ok() && num_open_ > max_pending && !closed_ && status_.ok() &&
        !news_) {
      changed_.WaitUntil(mu_, interrupt.NextWake(now));
    }
  }
  --num_waiters_;
  return result;
}

std::vector<InsertStream::Pending> ResendingStream::PendingItems() const {
  std::vector<Pending> pending;
  MutexLock lock(mu_);
  for (const WindowItem& item : window_) {
    if (item.done) continue;
    pending.push_back({.key = item.outgoing.item->key(),
                       .sent = item.sent,
                       .limited = item.limited});
  }
  return pending;
}

absl::Status ResendingStream::last_loss() const {
  MutexLock lock(mu_);
  return IsConnectedLocked(Clock::Real().Now()) ? absl::OkStatus() : last_loss_;
}

void ResendingStream::Close() {
  if (InForkedChildOfGrpcUser()) return;
  std::shared_ptr<InsertConnection> connection;
  {
    MutexLock lock(mu_);
    closed_ = true;
    connection.swap(connection_);
    changed_.NotifyAll();
  }
  if (connection) connection->Close();
}

void ResendingStream::OnConnected(const InsertConnection* connection) {
  MutexLock lock(mu_);
  if (connection != connection_.get()) return;
  connected_ = true;
  connected_at_ = Clock::Real().Now();
  endpoint_->NoteReached();
}

void ResendingStream::OnReady(const InsertConnection* connection) {
  {
    MutexLock lock(mu_);
    if (connection != connection_.get()) return;
    ready_ = true;
  }
  Pump();
}

bool ResendingStream::FinishLocked(ItemKey key, std::vector<WindowItem>& gone) {
  const auto found = sequence_of_.find(key);
  if (found == sequence_of_.end()) return false;  // a key sent twice
  WindowItem& item = window_[found->second - base_];
  item.done = true;
  sequence_of_.erase(found);
  --num_open_;
  open_bytes_ -= static_cast<int64_t>(item.outgoing.charged_bytes);
  while (!window_.empty() && window_.front().done) {
    gone.push_back(std::move(window_.front()));
    window_.pop_front();
    ++base_;
  }
  next_ = std::max(next_, base_);
  return true;
}

void ResendingStream::OnDone(InsertDone done) {
  if (done.empty()) return;
  std::vector<WindowItem> gone;  // freed after unlocking
  MutexLock lock(mu_);
  const uint64_t sendable = SendableEndLocked();
  good_ = true;
  backoff_.Reset();
  for (const ItemKey key : done.confirmed) FinishLocked(key, gone);
  for (const ItemKey key : done.refused) {
    if (FinishLocked(key, gone)) refused_.push_back(key);
  }
  if (num_waiters_ > 0) changed_.NotifyAll();
  const bool may_go = held_since_.has_value() || next_ >= sendable;
  if (!may_go || next_ == EndLocked()) return;
  lock.Unlock();
  Pump();
  lock.Lock();
}

void ResendingStream::OnProgress(const InsertConnection* connection) {
  MutexLock lock(mu_);
  if (connection != connection_.get()) return;
  news_ = true;
  // A waiter takes the news itself, which spares a thread switch.
  if (num_waiters_ > 0) {
    changed_.NotifyAll();
  } else {
    ScheduleTurnLocked(SteadyTime::min());
  }
}

void ResendingStream::OnEnded(const InsertConnection* connection,
                              absl::Status status) {
  std::shared_ptr<InsertConnection> ended;
  MutexLock lock(mu_);
  if (connection != connection_.get()) return;
  ended.swap(connection_);
  const SteadyTime now = Clock::Real().Now();
  if (IsLostConnection(status)) {
    if (connected_ && (good_ || now - connected_at_ >= kGoodLife)) {
      backoff_.Reset();
    }
    retry_at_ = now + backoff_.Next();
    last_loss_ = status.ok() ? absl::UnavailableError("the stream ended")
                             : std::move(status);
    next_ = base_;
    if (num_open_ > 0) ScheduleTurnLocked(retry_at_);
  } else {
    status_ = std::move(status);
  }
  connected_ = ready_ = news_ = false;
  changed_.NotifyAll();
}

}  // namespace

std::shared_ptr<InsertStream> InsertStream::Create(
    std::shared_ptr<Endpoint> endpoint) {
  Endpoint& owner = *endpoint;
  auto stream = std::make_shared<ResendingStream>(std::move(endpoint));
  owner.Adopt(stream);
  return stream;
}

}  // namespace reverb
