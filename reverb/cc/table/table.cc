// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/table.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

// One that has passed already is an attempt without waiting.
template <typename Waiter>
void TryOnceIfPassed(const Clock& clock, Waiter& waiter) {
  if (waiter.deadline != kNoDeadline && waiter.deadline <= clock.Now()) {
    waiter.try_once = true;
    waiter.deadline = kNoDeadline;
  }
}

int64_t Milliseconds(SteadyDuration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration)
      .count();
}

}  // namespace

absl::StatusOr<std::shared_ptr<Table>> Table::Create(Options options,
                                                     Executor& executor,
                                                     const Clock& clock) {
  std::shared_ptr<Table> table(new Table(std::move(options), executor, clock));
  MutexLock lock(table->mu_);
  REVERB_ASSIGN_OR_RETURN(table->contents_,
                          TableContents::Create(table->options_));
  return table;
}

Table::Table(Options options, Executor& executor, const Clock& clock)
    : options_(std::move(options)),
      executor_(executor),
      clock_(clock),
      worker_time_(clock.Now()) {}

Table::~Table() { Close(); }

absl::Status Table::ClosedError() const {
  return absl::CancelledError(
      absl::StrCat("table '", options_.name, "' was closed"));
}

absl::Status Table::CheckPriority(double priority) const {
  for (const SelectorOptions* selector :
       {&options_.sampler, &options_.remover}) {
    absl::Status status = reverb::CheckPriority(*selector, priority);
    if (!status.ok()) {
      return WithErrorInfo(
          absl::InvalidArgumentError(
              absl::StrCat("table '", options_.name, "': ", status.message())),
          {.table = options_.name,
           .column = "",
           .limit = "",
           .actual = absl::StrCat(priority)});
    }
  }
  return absl::OkStatus();
}

void Table::Insert(std::vector<InsertRequest> requests,
                   std::shared_ptr<InsertSink> sink, SteadyTime deadline,
                   bool try_once) {
  if (requests.empty()) return;
  std::list<InsertWaiter> waiters(1);
  InsertWaiter& waiter = waiters.front();
  waiter.items.reserve(requests.size());
  for (InsertRequest& request : requests) {
    waiter.items.emplace_back(std::move(request));
  }
  waiter.sink = std::move(sink);
  waiter.deadline = deadline;
  waiter.try_once = try_once;
  TryOnceIfPassed(clock_, waiter);

  Turn turn;
  {
    MutexLock lock(mu_);
    if (closed_) {
      turn.EndInserts(std::move(waiters), ClosedError());
    } else {
      earliest_deadline_ = std::min(earliest_deadline_, waiter.deadline);
      inserts_.Push(waiters);
      ServeLocked(turn);
    }
  }
  Finish(std::move(turn));
}

std::vector<ItemKey> Table::WithdrawInserts(const InsertSink* sink) {
  std::list<InsertWaiter> withdrawn;
  {
    MutexLock lock(mu_);
    // Nobody else can go because of it: the limiter that blocks the first
    // blocks all.
    inserts_.ExtractIf(
        [sink](const InsertWaiter& waiter) {
          return waiter.sink.get() == sink;
        },
        withdrawn);
  }
  std::vector<ItemKey> keys;
  for (const InsertWaiter& waiter : withdrawn) {
    for (size_t i = waiter.next; i < waiter.items.size(); ++i) {
      keys.push_back(waiter.items[i].item->key());
    }
  }
  return keys;
}

bool Table::InsertQueueIsFull() const {
  const int64_t limit = std::clamp<int64_t>(options_.max_size / 10, 1, 1000);
  MutexLock lock(mu_);
  return inserts_.num_items() >= limit;
}

uint64_t Table::RequestSamples(const SampleRequest& request,
                               std::shared_ptr<SampleSink> sink) {
  SampleWaiter waiter{
      .request = request, .sink = std::move(sink), .samples = {}, .bytes = 0};
  TryOnceIfPassed(clock_, waiter.request);
  if (request.num_samples < 1) {
    waiter.sink->OnSamples({}, absl::InvalidArgumentError(absl::StrCat(
                                   "table '", options_.name,
                                   "': num_samples must be at least 1, not ",
                                   request.num_samples)));
    return 0;
  }
  // What one answer commonly holds; never more than a few kB.
  constexpr int64_t kCommonBatch = 128;
  waiter.samples.reserve(std::min(request.num_samples, kCommonBatch));

  Turn turn;
  uint64_t ticket;
  std::shared_ptr<SampleSink> refused;
  {
    MutexLock lock(mu_);
    ticket = next_ticket_++;
    if (closed_) {
      refused = std::move(waiter.sink);
    } else {
      earliest_deadline_ =
          std::min(earliest_deadline_, waiter.request.deadline);
      samples_.Push(ticket, std::move(waiter));
      ServeLocked(turn);
    }
  }
  if (refused != nullptr) refused->OnSamples({}, ClosedError());
  Finish(std::move(turn));
  return ticket;
}

bool Table::WithdrawSamples(uint64_t ticket) {
  // Freed after unlocking.
  SampleQueue::Map::node_type withdrawn;
  MutexLock lock(mu_);
  withdrawn = samples_.Remove(ticket);
  return !withdrawn.empty();
}

absl::Status Table::Mutate(absl::Span<const PriorityUpdate> updates,
                           absl::Span<const ItemKey> deletes) {
  std::vector<double> priorities;
  priorities.reserve(updates.size());
  for (const PriorityUpdate& update : updates) {
    REVERB_RETURN_IF_ERROR(CheckPriority(update.priority));
    priorities.push_back(update.priority);
  }
  Turn turn;
  turn.discarded.items.reserve(deletes.size());
  {
    MutexLock lock(mu_);
    REVERB_RETURN_IF_ERROR(contents_->CanHold(priorities));
    for (const ItemKey key : deletes) {
      contents_->Delete(key, turn.discarded);
    }
    for (const PriorityUpdate& update : updates) {
      contents_->Update(update.key, update.priority);
    }
    ServeLocked(turn);
  }
  Finish(std::move(turn));
  return absl::OkStatus();
}

absl::Status Table::Reset() {
  Turn turn;
  {
    MutexLock lock(mu_);
    contents_->Reset(turn.discarded);
    ServeLocked(turn);
  }
  Finish(std::move(turn));
  return absl::OkStatus();
}

void Table::Close() {
  Turn turn;
  {
    MutexLock lock(mu_);
    closed_ = true;
    std::list<InsertWaiter> inserts;
    inserts_.ExtractIf([](const InsertWaiter&) { return true; }, inserts);
    turn.EndInserts(std::move(inserts), ClosedError());
    while (!samples_.empty()) {
      turn.EndSample(samples_.PopFront(), ClosedError());
    }
  }
  Finish(std::move(turn));
}

absl::StatusOr<bool> Table::CanSample(int64_t n) const {
  if (n < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_samples must be at least 1, not ", n));
  }
  MutexLock lock(mu_);
  return contents_->limiter().CanSample(n);
}

absl::StatusOr<bool> Table::CanInsert(int64_t n) const {
  if (n < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_inserts must be at least 1, not ", n));
  }
  MutexLock lock(mu_);
  return contents_->limiter().CanInsert(n);
}

Table::Info Table::GetInfo() const {
  Info info{.name = options_.name,
            .sampler = options_.sampler,
            .remover = options_.remover,
            .max_size = options_.max_size,
            .max_times_sampled = options_.max_times_sampled,
            .rate_limiter = options_.rate_limiter,
            .counters = {},
            .signature = options_.signature};
  WorkerTime::Totals totals;
  {
    MutexLock lock(mu_);
    info.counters = contents_->limiter().counters();
    info.current_size = contents_->size();
    info.num_episodes = contents_->episodes().num_episodes();
    info.num_deleted_episodes = contents_->episodes().num_deleted();
    info.num_unique_samples = contents_->num_unique_samples();
    info.waiting_inserts = inserts_.num_items();
    info.waiting_samples = static_cast<int64_t>(samples_.size());
    totals = worker_time_.TotalsAt(clock_.Now());
  }
  info.sampling_ms = Milliseconds(totals.sampling);
  info.inserting_ms = Milliseconds(totals.inserting);
  info.sleeping_ms = Milliseconds(totals.sleeping);
  info.waiting_for_sampling_ms = Milliseconds(totals.waiting_for_sampling);
  info.waiting_for_inserts_ms = Milliseconds(totals.waiting_for_inserts);
  return info;
}

int64_t Table::size() const {
  MutexLock lock(mu_);
  return contents_->size();
}

std::string Table::ToString(absl::string_view signature) const {
  std::string text = absl::StrCat(
      "Table(sampler=", options_.sampler.ToString(),
      ", remover=", options_.remover.ToString(),
      ", max_size=", options_.max_size,
      ", max_times_sampled=", options_.max_times_sampled,
      ", name=", options_.name,
      ", rate_limiter=", options_.rate_limiter.ToString(),
      ", signature=", options_.signature.empty() ? "nullptr" : signature);
  if (!options_.extensions.empty()) {
    absl::StrAppend(&text, ", extensions=[",
                    absl::StrJoin(options_.extensions, ", ",
                                  [](std::string* out, const auto& extension) {
                                    absl::StrAppend(out, extension->ToString());
                                  }),
                    "]");
  }
  text += ")";
  return text;
}

}  // namespace reverb
