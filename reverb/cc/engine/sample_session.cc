// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/sample_session.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/engine/session_turn.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

// A batch has at most twice the samples of the one before, and this many
// anyway: what is granted but not delivered is lost when a client dies.
constexpr int64_t kFirstBatch = 64;
constexpr int64_t kMaxBatch = 1024;
constexpr int64_t kMaxRequest = std::numeric_limits<int32_t>::max();

}  // namespace

CoreSampleSession::CoreSampleSession(std::shared_ptr<ServerCore> core,
                                     std::weak_ptr<SessionListener> listener)
    : core_(std::move(core)),
      listener_(std::move(listener)),
      last_batch_(kFirstBatch) {}

absl::Status CoreSampleSession::Request(const SampleMessage& message) {
  TurnScope turns;
  absl::Status status = BeginRequest(message);
  if (!status.ok()) {
    MutexLock lock(mu_);
    FailLocked(status);
    return status;
  }
  AskTable();
  return absl::OkStatus();
}

absl::Status CoreSampleSession::BeginRequest(const SampleMessage& message) {
  if (message.num_samples < 1 || message.num_samples > kMaxRequest) {
    return WithErrorInfo(absl::InvalidArgumentError(absl::StrCat(
                             "`num_samples` must be > 0 and at most ",
                             kMaxRequest, " (got ", message.num_samples, ").")),
                         {.table = message.table,
                          .limit = absl::StrCat(kMaxRequest),
                          .actual = absl::StrCat(message.num_samples)});
  }
  REVERB_ASSIGN_OR_RETURN(std::shared_ptr<Table> table,
                          core_->FindTable(message.table));
  MutexLock lock(mu_);
  if (!status_.ok()) return status_;
  if (asked_ || ungranted_ > 0 || !ready_.empty()) {
    return absl::FailedPreconditionError(
        "a sample request came before the last one was complete");
  }
  table_ = std::move(table);
  timeout_ms_ = message.timeout_ms;
  try_once_ = message.try_once;
  ungranted_ = message.num_samples;
  return absl::OkStatus();
}

void CoreSampleSession::AskTable() {
  SampleRequest request;
  std::shared_ptr<Table> table;
  uint64_t number;
  {
    MutexLock lock(mu_);
    // Nothing is ready here, whatever the batch's size: `Take` has emptied it.
    if (closed_ || !status_.ok() || asked_ || ungranted_ == 0 ||
        !ready_.empty()) {
      return;
    }
    request.num_samples = std::min({2 * last_batch_, ungranted_, kMaxBatch});
    if (timeout_ms_.has_value() && *timeout_ms_ > 0) {
      request.deadline = DeadlineAfter(
          core_->clock().Now(), static_cast<double>(*timeout_ms_) / 1000);
    }
    request.try_once = try_once_;
    table = table_;
    asked_ = true;
    number = ++num_asked_;
  }
  const uint64_t ticket = table->RequestSamples(request, shared_from_this());
  {
    MutexLock lock(mu_);
    if (!asked_ || num_asked_ != number) return;  // already answered
    if (!closed_) {
      ticket_ = ticket;
      return;
    }
  }
  // Closed before the ticket was known.
  table->WithdrawSamples(ticket);
}

void CoreSampleSession::OnSamples(std::vector<Sample> samples,
                                  absl::Status status) {
  if (absl::IsCancelled(status)) {
    status = ClosedTableError(status, core_->closed());
  }
  {
    MutexLock lock(mu_);
    asked_ = false;
    ticket_.reset();
    if (closed_) return;  // the samples die with the argument, unlocked
    if (!samples.empty()) {
      last_batch_ = static_cast<int64_t>(samples.size());
      ungranted_ -= last_batch_;
      if (ready_.empty()) {
        ready_ = std::move(samples);
      } else {
        ready_.insert(ready_.end(), std::make_move_iterator(samples.begin()),
                      std::make_move_iterator(samples.end()));
      }
    }
    if (!status.ok()) FailLocked(std::move(status));
  }
  Notify();
}

std::vector<Sample> CoreSampleSession::Take() {
  TurnScope turns;
  std::vector<Sample> taken;
  {
    MutexLock lock(mu_);
    taken = std::exchange(ready_, {});
  }
  AskTable();
  return taken;
}

bool CoreSampleSession::RequestIsComplete() {
  MutexLock lock(mu_);
  return ungranted_ == 0 && !asked_ && ready_.empty();
}

absl::Status CoreSampleSession::status() {
  MutexLock lock(mu_);
  return ready_.empty() ? status_ : absl::OkStatus();
}

void CoreSampleSession::Close() {
  std::vector<Sample> lost;  // freed unlocked
  std::shared_ptr<Table> table;
  std::optional<uint64_t> ticket;
  {
    MutexLock lock(mu_);
    closed_ = true;
    FailLocked(absl::CancelledError("the sample session was closed"));
    lost = std::exchange(ready_, {});
    table = table_;
    ticket = std::exchange(ticket_, std::nullopt);
  }
  if (ticket.has_value()) {
    TurnScope turns;
    table->WithdrawSamples(*ticket);
  }
}

void CoreSampleSession::Stop() {
  {
    MutexLock lock(mu_);
    FailLocked(ServerIsStoppingError());
  }
  Notify();
}

void CoreSampleSession::FailLocked(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void CoreSampleSession::Notify() {
  if (const auto listener = listener_.lock()) listener->OnProgress();
}

}  // namespace reverb
