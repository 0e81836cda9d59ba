// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Operations of the call: StartCall, then ReadInitialMetadata followed by one
// Read after the other, beside them one Write at a time; Finish after the
// first failure of the reading side. The object keeps itself alive while an
// operation is under way; each ends on the I/O threads.

#include "reverb/cc/client/remote_insert.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "reverb/cc/client/chunk_ledger.h"
#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/io.h"
#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/status.h"
#include "reverb/cc/support/executor.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/wire/messages.h"

namespace reverb {
namespace {

constexpr size_t kGoodMessageBytes = size_t{1} << 20;
constexpr size_t kCutMessageBytes = size_t{40} << 20;
constexpr int kMaxItemsPerMessage = 10'000;

// How long items with a limit are held for a server that should confirm the
// feature `wait`.
constexpr std::chrono::seconds kMetadataGrace{1};

class RemoteInsert final : public InsertConnection,
                           public std::enable_shared_from_this<RemoteInsert> {
 public:
  RemoteInsert(std::shared_ptr<Channels> channels, bool expect_wait,
               const std::string& session_id)
      : channels_(std::move(channels)),
        expect_wait_(expect_wait),
        channel_(channels_->Best()),
        stub_(channel_) {
    context_.AddMetadata(
        rpc::kFeaturesKey,
        absl::StrCat(rpc::kSessionFeature, ",", rpc::kWaitFeature));
    context_.AddMetadata(rpc::kSessionKey, session_id);
  }

  void Start(std::weak_ptr<Sink> sink) override {
    sink_ = std::move(sink);
    call_ = stub_.PrepareCall(&context_, rpc::kInsertStreamMethod, &IoQueue());
    Begin();
    call_->StartCall(&start_tag_);
  }

  void OnQueued(const Item& item) override { ledger_.AddUses(item); }
  void OnKeep(absl::Span<const ChunkKey> added,
              absl::Span<const ChunkKey> removed) override {
    for (const ChunkKey key : removed) ledger_.Release(key);
    for (const ChunkKey key : added) ledger_.Keep(key);
  }
  Prepared Prepare(std::deque<WindowItem>& window, size_t begin,
                   size_t end) override;
  void Send() override;
  void Close() override { context_.TryCancel(); }

 private:
  enum class WaitFeature { kUnknown, kOffered, kMissing };

  // Runs a member function when an operation is over.
  class Tag final : public IoTag {
   public:
    Tag(RemoteInsert* owner, void (RemoteInsert::*done)(bool))
        : owner_(owner), done_(done) {}
    void Run(bool ok) override {
      (owner_->*done_)(ok);
      owner_->End();
    }

   private:
    RemoteInsert* const owner_;
    void (RemoteInsert::*const done_)(bool);
  };

  void OnStarted(bool ok);
  void OnMetadata(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);

  // Around every operation.
  void Begin() {
    MutexLock lock(mu_);
    if (num_operations_++ == 0) self_ = shared_from_this();
  }
  void End() {
    std::shared_ptr<RemoteInsert> last;  // let go after unlocking
    MutexLock lock(mu_);
    if (--num_operations_ == 0) last.swap(self_);
  }

  void BeginRead() {
    Begin();
    call_->Read(&incoming_, &read_tag_);
  }
  void BeginFinish() {
    Begin();
    call_->Finish(&final_status_, &finish_tag_);
  }
  bool HoldsLimitedItems();
  int64_t WaitMillis(const WindowItem& item) const;

  const std::shared_ptr<Channels> channels_;
  const bool expect_wait_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;  // outlives the call
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  std::weak_ptr<Sink> sink_;  // set by Start
  grpc::ByteBuffer incoming_;
  grpc::Status final_status_;
  absl::Status broken_;  // what we found wrong with the server's messages
  std::atomic<WaitFeature> wait_feature_{WaitFeature::kUnknown};
  std::atomic<bool> grace_over_{false};

  // Guarded by the stream's lock; `message_` until `Send`.
  ChunkLedger ledger_;
  bool grace_running_ = false;
  Rope message_;

  Mutex mu_;
  int num_operations_ ABSL_GUARDED_BY(mu_) = 0;
  std::shared_ptr<RemoteInsert> self_ ABSL_GUARDED_BY(mu_);

  Tag start_tag_{this, &RemoteInsert::OnStarted};
  Tag metadata_tag_{this, &RemoteInsert::OnMetadata};
  Tag read_tag_{this, &RemoteInsert::OnRead};
  Tag write_tag_{this, &RemoteInsert::OnWritten};
  Tag finish_tag_{this, &RemoteInsert::OnFinished};
};

bool RemoteInsert::HoldsLimitedItems() {
  if (!expect_wait_ || grace_over_.load() ||
      wait_feature_.load() != WaitFeature::kUnknown) {
    return false;
  }
  if (!grace_running_) {
    grace_running_ = true;
    Executor::Default().PostAt(Clock::Real().Now() + kMetadataGrace,
                               [weak = weak_from_this()] {
                                 auto self = weak.lock();
                                 if (self == nullptr) return;
                                 self->grace_over_.store(true);
                                 if (auto sink = self->sink_.lock())
                                   sink->OnUnblocked();
                               });
  }
  return true;
}

int64_t RemoteInsert::WaitMillis(const WindowItem& item) const {
  if (item.try_once) return 0;
  const auto left = item.limit - Clock::Real().Now();
  return std::max<int64_t>(
      0, std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

InsertConnection::Prepared RemoteInsert::Prepare(std::deque<WindowItem>& window,
                                                 size_t begin, size_t end) {
  Prepared prepared;
  wire::InsertRequestBuilder builder;
  std::vector<uint64_t> numbers;
  const WindowItem* first = nullptr;
  size_t bytes = 0;
  for (size_t i = begin; i < end; ++i) {
    WindowItem& item = window[i];
    const Item& data = *item.outgoing.item;
    if (item.done) {
      // Confirmed by the connection before: its chunks may not be needed.
      data.trajectory().ForEachChunk([&](const Ref<const Chunk>& chunk) {
        ledger_.DropUse(chunk->key());
      });
      ++prepared.num_items;
      continue;
    }
    if (first == nullptr) {
      if (item.has_limit() && HoldsLimitedItems()) break;
      first = &item;
    } else if (item.limit != first->limit || item.try_once != first->try_once ||
               bytes >= kGoodMessageBytes ||
               builder.num_items() >= kMaxItemsPerMessage) {
      break;
    }
    bool cut = false;
    data.trajectory().ForEachChunk([&](const Ref<const Chunk>& chunk) {
      if (cut || ledger_.IsSent(chunk->key())) return;
      // A message this long goes out by itself; the item follows.
      if (bytes >= kCutMessageBytes) {
        cut = true;
        return;
      }
      builder.AddChunk(chunk);
      ledger_.MarkSent(chunk->key());
      bytes += chunk->bytes().size();
    });
    if (cut) break;
    data.trajectory().ForEachChunk(
        [&](const Ref<const Chunk>& chunk) { ledger_.DropUse(chunk->key()); });
    builder.AddItem(item.outgoing.table, item.outgoing.priority, data);
    numbers.push_back(item.sequence);
    bytes += 64 + 16 * data.trajectory().slices().size();
    ++prepared.num_items;
    item.sent = true;
    item.limited = false;
    if (item.has_limit() && wait_feature_.load() == WaitFeature::kOffered) {
      item.limited = true;
    }
  }
  if (builder.num_items() > 0) {
    builder.SetKeepChunkKeys(ledger_.KeepList());
    // dm-reverb's servers skip the field.
    builder.SetItemSeqs(numbers);
    if (first->limited) builder.SetWait(WaitMillis(*first));
  }
  prepared.to_send = bytes > 0;
  message_ = builder.Build();
  return prepared;
}

void RemoteInsert::Send() {
  const grpc::ByteBuffer message = rpc::ToByteBuffer(std::move(message_));
  message_ = Rope();
  Begin();
  call_->Write(message, &write_tag_);
}

void RemoteInsert::OnStarted(bool ok) {
  if (!ok) return BeginFinish();
  Begin();
  call_->ReadInitialMetadata(&metadata_tag_);
  if (auto sink = sink_.lock()) {
    sink->OnConnected(this);
    sink->OnReady(this);
  }
}

void RemoteInsert::OnMetadata(bool ok) {
  WaitFeature feature = WaitFeature::kMissing;
  if (ok) {
    const rpc::Metadata& metadata = context_.GetServerInitialMetadata();
    const auto features = rpc::FindMetadata(metadata, rpc::kFeaturesKey);
    if (features && rpc::HasFeature(*features, rpc::kWaitFeature)) {
      feature = WaitFeature::kOffered;
    }
    channels_->NoteServer(metadata);
  }
  wait_feature_.store(feature);
  BeginRead();
  // Items may be held for this.
  if (expect_wait_) {
    if (auto sink = sink_.lock()) sink->OnUnblocked();
  }
}

void RemoteInsert::OnRead(bool ok) {
  if (!ok) return BeginFinish();
  rpc::ReceivedMessage message(incoming_);
  absl::StatusOr<InsertDone> done =
      wire::ParseInsertResponse(message.Contiguous());
  if (!done.ok()) {
    broken_ = absl::InternalError(absl::StrCat(
        "the server sent a malformed response: ", done.status().message()));
    context_.TryCancel();
    return BeginFinish();
  }
  BeginRead();
  if (auto sink = sink_.lock()) sink->OnDone(*std::move(done));
}

void RemoteInsert::OnWritten(bool ok) {
  // If not, the reading side fails too and ends the call.
  if (!ok) return;
  if (auto sink = sink_.lock()) sink->OnReady(this);
}

void RemoteInsert::OnFinished(bool /*ok*/) {
  absl::Status status =
      rpc::FromGrpcStatus(final_status_, context_.GetServerTrailingMetadata());
  channels_->NoteLost(*channel_, status);
  if (!broken_.ok()) status = broken_;
  if (auto sink = sink_.lock()) sink->OnEnded(this, std::move(status));
}

}  // namespace

std::shared_ptr<InsertConnection> NewRemoteInsertConnection(
    std::shared_ptr<Channels> channels, bool expect_wait,
    const std::string& session_id) {
  return std::make_shared<RemoteInsert>(std::move(channels), expect_wait,
                                        session_id);
}

}  // namespace reverb
