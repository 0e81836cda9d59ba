// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/client.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "reverb/cc/client/background.h"
#include "reverb/cc/client/chunker.h"
#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/client/make_sampler.h"
#include "reverb/cc/client/make_writer.h"
#include "reverb/cc/client/signature_cache.h"
#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/client/stream_pool.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

// How much longer than its deadline an insert waits to hear what became of
// items whose wait the server ends.
constexpr std::chrono::seconds kAnswerGrace{2};
// What "try once" allows for the connection and the answer.
constexpr std::chrono::seconds kTryOnceTime{2};
// Dropped writers at exit, together.
constexpr std::chrono::seconds kExitGrace{5};

using Priorities = absl::Span<const std::pair<std::string, double>>;

}  // namespace

class Client::Impl {
 public:
  explicit Impl(const Options& options)
      : options_(options),
        endpoint_(
            Endpoint::Create({.target = options.target,
                              .connect_timeout = options.connect_timeout,
                              .reconnect_timeout = options.reconnect_timeout,
                              .allow_in_process = options.allow_in_process})),
        signatures_(std::make_shared<SignatureCache>(endpoint_)),
        pool_(endpoint_) {}

  const Options& options() const { return options_; }
  Endpoint& endpoint() { return *endpoint_; }
  const std::shared_ptr<Endpoint>& shared_endpoint() { return endpoint_; }
  const std::shared_ptr<SignatureCache>& signatures() { return signatures_; }

  InsertOutcome Insert(absl::Span<const TensorView> columns,
                       Priorities priorities, std::optional<double> timeout,
                       const WaitOptions& wait,
                       const std::shared_ptr<const std::string>& structure);

 private:
  // Whether all may be sent; `wait` for the tables' signatures.
  absl::Status CheckInsert(absl::Span<const TensorView> columns,
                           Priorities priorities, const WaitOptions& wait);
  // Waits for the items; what the status says of them is still to be seen.
  static absl::Status AwaitInsert(InsertStream& stream,
                                  std::optional<double> timeout,
                                  const WaitOptions& wait);

  const Options options_;
  const std::shared_ptr<Endpoint> endpoint_;
  const std::shared_ptr<SignatureCache> signatures_;
  StreamPool pool_;
};

absl::Status Client::Impl::CheckInsert(absl::Span<const TensorView> columns,
                                       Priorities priorities,
                                       const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(endpoint_->Check());
  if (priorities.empty()) {
    return absl::InvalidArgumentError("`priorities` must not be empty.");
  }
  if (columns.empty()) {
    return absl::InvalidArgumentError("the data has no columns");
  }
  for (const auto& [table, priority] : priorities) {
    REVERB_RETURN_IF_ERROR(CheckPriorityIsNumber(table, priority));
  }
  std::vector<CellSpec> step;
  step.reserve(columns.size());
  for (const TensorView& column : columns) {
    step.push_back({.dtype = column.dtype, .dims = column.dims});
  }
  for (const auto& [table, priority] : priorities) {
    REVERB_ASSIGN_OR_RETURN(std::shared_ptr<const Signature> signature,
                            signatures_->Find(table, wait));
    if (signature == nullptr) continue;
    REVERB_RETURN_IF_ERROR(CheckStep(table, *signature, step, 1));
  }
  return absl::OkStatus();
}

absl::Status Client::Impl::AwaitInsert(InsertStream& stream,
                                       std::optional<double> timeout,
                                       const WaitOptions& wait) {
  WaitOptions until = wait;
  if (timeout && *timeout <= 0) {
    until.deadline =
        std::min(wait.deadline, Clock::Real().Now() + kTryOnceTime);
  }
  absl::Status status = stream.AwaitPending(0, until);
  if (!absl::IsDeadlineExceeded(status) || !timeout) return status;
  const std::vector<InsertStream::Pending> pending = stream.PendingItems();
  const bool all_limited =
      std::all_of(pending.begin(), pending.end(),
                  [](const auto& item) { return item.limited; });
  if (!all_limited) return status;
  until.deadline = std::min(until.deadline + kAnswerGrace,
                            Clock::Real().Now() + kAnswerGrace);
  return stream.AwaitPending(0, until);
}

Client::InsertOutcome Client::Impl::Insert(
    absl::Span<const TensorView> columns, Priorities priorities,
    std::optional<double> timeout, const WaitOptions& wait,
    const std::shared_ptr<const std::string>& structure) {
  const SteadyTime now = Clock::Real().Now();
  const bool try_once = timeout && *timeout <= 0;
  WaitOptions limited = wait;
  if (timeout && !try_once) {
    limited.deadline = std::min(wait.deadline, DeadlineAfter(now, *timeout));
  }
  WaitOptions for_signatures = limited;
  if (try_once) {
    for_signatures.deadline = std::min(wait.deadline, now + kTryOnceTime);
  }
  InsertOutcome outcome;
  outcome.status = CheckInsert(columns, priorities, for_signatures);
  Ref<const Chunk> chunk;
  if (outcome.status.ok()) {
    Chunker chunker({});
    outcome.status = chunker.Append(columns, RandomKey(), 0);
    if (outcome.status.ok()) chunk = chunker.Seal();
  }
  if (!outcome.status.ok()) {
    for (const auto& [table, priority] : priorities) {
      outcome.withdrawn.push_back(table);
    }
    return outcome;
  }

  std::vector<OutgoingItem> items;
  std::vector<ItemKey> keys;
  items.reserve(priorities.size());
  for (const auto& [table, priority] : priorities) {
    Trajectory trajectory;
    for (size_t i = 0; i < columns.size(); ++i) {
      trajectory.Add({.chunk = chunk,
                      .offset = 0,
                      .length = 1,
                      .index = static_cast<int32_t>(i)});
    }
    keys.push_back(RandomKey());
    items.push_back(
        {.table = table,
         .priority = priority,
         .item = MakeRef<Item>(keys.back(), std::move(trajectory), structure)});
  }

  const std::shared_ptr<InsertStream> stream = pool_.Take();
  outcome.status = stream->Append(std::move(items), limited.deadline, try_once);
  if (outcome.status.ok()) {
    outcome.status = AwaitInsert(*stream, timeout, limited);
  }
  const std::vector<ItemKey> refused_keys = stream->TakeRefused();
  const absl::flat_hash_set<ItemKey> refused(refused_keys.begin(),
                                             refused_keys.end());
  if (outcome.status.ok() && refused.empty()) {
    pool_.Give(stream);
    for (const auto& [table, priority] : priorities) {
      outcome.inserted.push_back(table);
    }
    return outcome;
  }

  if (absl::IsNotFound(outcome.status)) signatures_->Forget();
  absl::flat_hash_map<ItemKey, InsertStream::Pending> pending;
  for (const InsertStream::Pending& item : stream->PendingItems()) {
    pending.emplace(item.key, item);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto found = pending.find(keys[i]);
    std::vector<std::string>& fate = refused.contains(keys[i])
                                         ? outcome.withdrawn
                                     : found == pending.end() ? outcome.inserted
                                     : found->second.sent     ? outcome.unknown
                                                          : outcome.withdrawn;
    fate.push_back(priorities[i].first);
  }
  if (absl::IsDeadlineExceeded(outcome.status)) {
    std::vector<std::string> tables = outcome.unknown;
    tables.insert(tables.end(), outcome.withdrawn.begin(),
                  outcome.withdrawn.end());
    outcome.status = absl::DeadlineExceededError(
        absl::StrCat(outcome.status.message(), " The server at '",
                     endpoint().options().target,
                     "' has not answered for: ", absl::StrJoin(tables, ", ")));
  }
  if (outcome.status.ok()) {
    outcome.status = absl::DeadlineExceededError(absl::StrCat(
        "Timeout exceeded before the rate limiter let the data in; not "
        "inserted into: ",
        absl::StrJoin(outcome.withdrawn, ", ")));
    pool_.Give(stream);
  } else {
    stream->Close();
  }
  return outcome;
}

std::shared_ptr<Client> Client::Create(const Options& options) {
  return std::shared_ptr<Client>(new Client(std::make_unique<Impl>(options)));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

const Client::Options& Client::options() const { return impl_->options(); }
absl::string_view Client::transport() const {
  return impl_->endpoint().transport();
}

Client::InsertOutcome Client::Insert(
    absl::Span<const TensorView> columns, Priorities priorities,
    std::optional<double> timeout, const WaitOptions& wait,
    const std::shared_ptr<const std::string>& structure) {
  return impl_->Insert(columns, priorities, timeout, wait, structure);
}

absl::StatusOr<std::unique_ptr<Writer>> Client::NewWriter(
    const Writer::Options& options, const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  REVERB_RETURN_IF_ERROR(impl_->signatures()->Fill(wait));
  return MakeWriter(options, impl_->shared_endpoint(), impl_->signatures());
}

absl::StatusOr<std::unique_ptr<TrajectoryWriter>> Client::NewTrajectoryWriter(
    const TrajectoryWriter::Options& options, const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  if (options.num_keep_alive_refs < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_keep_alive_refs must be at least 1, got ",
                     options.num_keep_alive_refs));
  }
  if (options.max_pending_bytes && *options.max_pending_bytes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_pending_bytes must be at least 1, got ",
                     *options.max_pending_bytes));
  }
  if (options.validate_items) {
    REVERB_RETURN_IF_ERROR(impl_->signatures()->Fill(wait));
  }
  return std::make_unique<TrajectoryWriter>(options, impl_->shared_endpoint(),
                                            impl_->signatures());
}

absl::StatusOr<std::unique_ptr<StructuredWriter>> Client::NewStructuredWriter(
    std::vector<PatternConfig> configs) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  return StructuredWriter::Create(std::move(configs), impl_->shared_endpoint());
}

absl::StatusOr<std::unique_ptr<BulkLoad>> Client::NewBulkLoad(
    BulkLoad::Options options, absl::Span<const TensorView> columns,
    absl::Span<const uint8_t> ends, std::vector<double> priorities,
    const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  WaitOptions until = wait;
  until.deadline = std::min(wait.deadline, options.deadline);
  if (options.try_once) {
    until.deadline =
        std::min(until.deadline, Clock::Real().Now() + kTryOnceTime);
  }
  REVERB_ASSIGN_OR_RETURN(const std::shared_ptr<const Signature> signature,
                          impl_->signatures()->Find(options.table, until));
  return BulkLoad::Create(std::move(options), columns, ends,
                          std::move(priorities), signature.get(),
                          InsertStream::Create(impl_->shared_endpoint()));
}

absl::StatusOr<std::unique_ptr<Sampler>> Client::NewSampler(
    const Sampler::Options& options) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  return MakeSampler(options, impl_->shared_endpoint(), impl_->signatures());
}

absl::Status Client::MutatePriorities(absl::string_view table,
                                      absl::Span<const PriorityUpdate> updates,
                                      absl::Span<const ItemKey> deletes,
                                      const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  return impl_->endpoint().backend()->MutatePriorities(table, updates, deletes,
                                                       wait);
}

absl::Status Client::Reset(absl::string_view table, const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  return impl_->endpoint().backend()->Reset(table, wait);
}

absl::StatusOr<std::string> Client::Checkpoint(const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  return impl_->endpoint().backend()->Checkpoint(wait);
}

absl::StatusOr<ServerInfoMessage> Client::ServerInfo(const WaitOptions& wait) {
  return impl_->signatures()->Fetch(wait);
}

absl::StatusOr<std::shared_ptr<const Signature>> Client::TableSignature(
    absl::string_view table, const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(impl_->endpoint().Check());
  return impl_->signatures()->Find(table, wait);
}

void Client::Close() { impl_->endpoint().Close(); }

// Keys and the fork guard look after themselves.
void ForbidAfterFork() {}

void CloseAllClients() {
  if (InForkedChildOfGrpcUser()) return;
  EndBackgroundStreams(Clock::Real().Now() + kExitGrace);
  Endpoint::CloseAll();
}

}  // namespace reverb
