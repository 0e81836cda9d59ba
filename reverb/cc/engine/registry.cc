// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/registry.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

struct Registry {
  Mutex mu;
  absl::flat_hash_map<int, std::weak_ptr<ServerCore>> by_port
      ABSL_GUARDED_BY(mu);
  const pid_t pid = ::getpid();
};

// Never destroyed: servers may be stopped while the process exits.
Registry& GetRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

// In a forked child the servers are those of another process, and the lock may
// be held by a thread that is gone.
bool IsForked(const Registry& registry) {
  return InForkedChildOfGrpcUser() || registry.pid != ::getpid();
}

// Whether `host` is 127.x.x.x.
bool IsLoopbackV4(absl::string_view host) {
  if (!absl::StartsWith(host, "127.")) return false;
  int parts = 0;
  for (absl::string_view part : absl::StrSplit(host, '.')) {
    int value;
    if (part.size() > 3 || !absl::SimpleAtoi(part, &value) || value < 0 ||
        value > 255) {
      return false;
    }
    ++parts;
  }
  return parts == 4;
}

// The port of `target` if its one address is a loopback address.
std::optional<int> LoopbackPort(absl::string_view target) {
  bool brackets_required = false;
  if (absl::ConsumePrefix(&target, "dns:")) {
    // "dns:host:port" or "dns:///host:port". A name server of its own may know
    // another localhost.
    if (absl::StartsWith(target, "//") &&
        !absl::ConsumePrefix(&target, "///")) {
      return std::nullopt;
    }
  } else if (absl::ConsumePrefix(&target, "ipv6:")) {
    brackets_required = true;
  } else {
    absl::ConsumePrefix(&target, "ipv4:");
  }
  const size_t colon = target.rfind(':');
  if (colon == absl::string_view::npos) return std::nullopt;
  absl::string_view host = target.substr(0, colon);
  int port;
  if (!absl::SimpleAtoi(target.substr(colon + 1), &port) || port < 1 ||
      port > 65535) {
    return std::nullopt;
  }
  const bool brackets =
      absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]");
  if (brackets) {
    if (host == "::1" || host == "0:0:0:0:0:0:0:1") return port;
    return std::nullopt;
  }
  if (brackets_required) return std::nullopt;
  if (absl::EqualsIgnoreCase(host, "localhost") || IsLoopbackV4(host)) {
    return port;
  }
  return std::nullopt;
}

}  // namespace

void RegisterServer(int port, const std::shared_ptr<ServerCore>& core) {
  Registry& registry = GetRegistry();
  if (IsForked(registry)) return;
  MutexLock lock(registry.mu);
  registry.by_port[port] = core;
}

void UnregisterServer(int port, const ServerCore* core) {
  Registry& registry = GetRegistry();
  if (IsForked(registry)) return;
  // The last reference may die here, which takes other locks.
  std::shared_ptr<ServerCore> held;
  MutexLock lock(registry.mu);
  const auto it = registry.by_port.find(port);
  if (it == registry.by_port.end()) return;
  held = it->second.lock();
  if (held == nullptr || held.get() == core) registry.by_port.erase(it);
}

std::shared_ptr<ServerCore> FindLocalServer(absl::string_view target) {
  const std::optional<int> port = LoopbackPort(target);
  if (!port.has_value()) return nullptr;
  Registry& registry = GetRegistry();
  if (IsForked(registry)) return nullptr;
  std::shared_ptr<ServerCore> core;
  {
    MutexLock lock(registry.mu);
    const auto it = registry.by_port.find(*port);
    if (it == registry.by_port.end()) return nullptr;
    core = it->second.lock();
  }
  if (core == nullptr || core->closed()) return nullptr;
  return core;
}

}  // namespace reverb
