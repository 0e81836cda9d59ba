// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/local_insert.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/engine/session.h"

namespace reverb {
namespace {

// Between two questions whether the server wants more.
constexpr size_t kMaxBatch = 256;  // items

class LocalInsert final : public InsertConnection,
                          public SessionListener,
                          public std::enable_shared_from_this<LocalInsert> {
 public:
  explicit LocalInsert(std::shared_ptr<ServerCore> core)
      : core_(std::move(core)) {}
  ~LocalInsert() override { LocalInsert::Close(); }

  void Start(std::weak_ptr<Sink> sink) override {
    sink_ = std::move(sink);
    session_ = core_->OpenInsertSession(weak_from_this());
    started_.store(true, std::memory_order_release);
    if (auto s = sink_.lock()) s->OnConnected(this);
    Poll();
  }

  // References keep the chunks alive; there is nothing to remember.
  void OnQueued(const Item& /*item*/) override {}
  void OnKeep(absl::Span<const ChunkKey> /*added*/,
              absl::Span<const ChunkKey> /*removed*/) override {}

  Prepared Prepare(std::deque<WindowItem>& window, size_t begin,
                   size_t end) override {
    Prepared prepared;
    for (size_t i = begin; i < end; ++i) {
      WindowItem& item = window[i];
      if (!item.done) {
        if (batch_.empty()) {
          limit_ = item.limit;
          try_once_ = item.try_once;
        } else if (item.limit != limit_ || item.try_once != try_once_ ||
                   batch_.size() >= kMaxBatch) {
          break;
        }
        batch_.push_back({.table = item.outgoing.table,
                          .priority = item.outgoing.priority,
                          .item = item.outgoing.item});
        item.sent = item.limited = true;
      }
      ++prepared.num_items;
    }
    prepared.to_send = !batch_.empty();
    return prepared;
  }

  void Send() override {
    std::vector<InsertSession::LocalItem> batch;
    batch.swap(batch_);
    // What the session reports meanwhile is taken below, without a detour
    // through another thread.
    in_call_.store(true);
    // An error is the session's status from here on, which Poll looks at.
    session_->SubmitLocal(std::move(batch), limit_, try_once_).IgnoreError();
    in_call_.store(false);
    Poll();
  }

  void OnProgress() override {
    if (in_call_.load()) return;
    if (auto s = sink_.lock()) s->OnProgress(this);
  }

  void Poll() override {
    if (!started_.load(std::memory_order_acquire)) return;
    const std::shared_ptr<Sink> sink = sink_.lock();
    if (sink == nullptr) return;
    sink->OnDone(session_->TakeDone());
    if (absl::Status status = session_->status(); !status.ok()) {
      // Reports that came between the two calls.
      sink->OnDone(session_->TakeDone());
      sink->OnEnded(this, std::move(status));
      return;
    }
    if (session_->ReadyForMore()) sink->OnReady(this);
  }

  void Close() override {
    if (started_.load(std::memory_order_acquire)) {
      session_->Close(/*withdraw=*/true);
    }
  }

 private:
  const std::shared_ptr<ServerCore> core_;
  std::weak_ptr<Sink> sink_;                // set by Start
  std::shared_ptr<InsertSession> session_;  // set by Start
  std::atomic<bool> started_{false};
  std::atomic<bool> in_call_{false};

  // Guarded by the stream's lock until `Send`.
  std::vector<InsertSession::LocalItem> batch_;
  SteadyTime limit_ = kNoDeadline;
  bool try_once_ = false;
};

}  // namespace

std::shared_ptr<InsertConnection> NewLocalInsertConnection(
    std::shared_ptr<ServerCore> core) {
  return std::make_shared<LocalInsert>(std::move(core));
}

}  // namespace reverb
