// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/endpoint.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/client/local_backend.h"
#include "reverb/cc/client/remote_backend.h"
#include "reverb/cc/engine/registry.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/log.h"

namespace reverb {
namespace {

// The endpoints of this process.
struct Registry {
  Mutex mu;
  bool closed ABSL_GUARDED_BY(mu) = false;
  std::vector<std::weak_ptr<Endpoint>> all ABSL_GUARDED_BY(mu);
};

Registry& GetRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

}  // namespace

Endpoint::Endpoint(Options options)
    : options_(std::move(options)),
      remote_(std::make_shared<RemoteBackend>(*this)) {}

Endpoint::~Endpoint() {
  // gRPC can't be used there, not even to let go of a channel.
  if (InForkedChildOfGrpcUser()) new std::shared_ptr<RemoteBackend>(remote_);
}

std::shared_ptr<Endpoint> Endpoint::Create(Options options) {
  std::shared_ptr<Endpoint> endpoint(new Endpoint(std::move(options)));
  // A lock that a thread of the parent may have held at the fork.
  if (InForkedChildOfGrpcUser()) return endpoint;
  Registry& registry = GetRegistry();
  MutexLock lock(registry.mu);
  if (registry.closed) {
    endpoint->closed_.store(true);
  } else {
    std::erase_if(registry.all, [](const auto& e) { return e.expired(); });
    registry.all.push_back(endpoint);
  }
  return endpoint;
}

void Endpoint::CloseAll() {
  if (InForkedChildOfGrpcUser()) return;
  Registry& registry = GetRegistry();
  std::vector<std::weak_ptr<Endpoint>> all;
  {
    MutexLock lock(registry.mu);
    registry.closed = true;
    all.swap(registry.all);
  }
  for (const std::weak_ptr<Endpoint>& weak : all) {
    if (auto endpoint = weak.lock()) endpoint->Close();
  }
}

std::shared_ptr<Backend> Endpoint::backend() {
  if (options_.allow_in_process) {
    if (auto core = FindLocalServer(options_.target)) {
      return std::make_shared<LocalBackend>(std::move(core));
    }
  }
  // Shares the endpoint's life: the backend refers to it.
  return std::shared_ptr<Backend>(shared_from_this(), remote_.get());
}

absl::Status Endpoint::Check() const {
  if (absl::Status status = CheckNotForked(); !status.ok()) return status;
  if (closed()) {
    return absl::CancelledError(
        absl::StrCat("the client of '", options_.target, "' has been closed"));
  }
  return absl::OkStatus();
}

bool Endpoint::StreamsAreAlike() {
  return IsInProcess() || remote_->HasOneAddress();
}

int64_t Endpoint::generation() { return remote_->generation(); }

absl::string_view Endpoint::transport() {
  if (IsInProcess()) return "in_process";
  return remote_->UsesUnixSocket() ? "unix" : "tcp";
}

bool Endpoint::IsInProcess() const {
  return options_.allow_in_process &&
         FindLocalServer(options_.target) != nullptr;
}

void Endpoint::Adopt(const std::shared_ptr<Closable>& child) {
  {
    MutexLock lock(mu_);
    if (!closed()) {
      if (children_.size() >= sweep_at_) {
        std::erase_if(children_, [](const auto& c) { return c.expired(); });
        sweep_at_ = std::max<size_t>(16, 2 * children_.size());
      }
      children_.push_back(child);
      return;
    }
  }
  child->Close();
}

void Endpoint::Close() {
  std::vector<std::weak_ptr<Closable>> children;
  {
    MutexLock lock(mu_);
    closed_.store(true, std::memory_order_release);
    children.swap(children_);
  }
  for (const std::weak_ptr<Closable>& weak : children) {
    if (auto child = weak.lock()) child->Close();
  }
}

absl::Status AwayTimer::Check(bool connected, SteadyTime now) {
  if (connected) {
    since_.reset();
    endpoint_.NoteReached();
    return absl::OkStatus();
  }
  if (!since_) since_ = now;
  const bool reached = endpoint_.reached();
  const Endpoint::Options& options = endpoint_.options();
  if (!reached && now - *since_ >= std::chrono::seconds(5) &&
      endpoint_.TakeWarning()) {
    LogWarning(absl::StrCat("no server has answered at '", options.target,
                            "' for 5 seconds; still trying"));
  }
  const std::optional<double>& timeout =
      reached ? options.reconnect_timeout : options.connect_timeout;
  if (!timeout || now < DeadlineAfter(*since_, *timeout)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(
      reached
          ? absl::StrCat("the server at '", options.target,
                         "' was lost and did not come back within ", *timeout,
                         " seconds (reconnect_timeout)")
          : absl::StrCat("no server has answered at '", options.target,
                         "' within ", *timeout, " seconds (connect_timeout)"));
}

bool IsLostConnection(const absl::Status& status) {
  return status.ok() || status.code() == absl::StatusCode::kUnavailable ||
         status.code() == absl::StatusCode::kCancelled ||
         (status.code() == absl::StatusCode::kUnknown &&
          absl::StrContains(status.message(), "Stream removed"));
}

}  // namespace reverb
