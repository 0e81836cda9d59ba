// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <netdb.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/same_host.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/runtime.h"
#include "reverb/cc/rpc/unix_socket.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

// A server that comes back is found within this time.
constexpr int kFirstReconnectMs = 100;
constexpr int kMaxReconnectMs = 1000;
// How long one attempt to connect may take.
constexpr int kConnectAttemptMs = 10'000;

constexpr std::chrono::seconds kLookupPeriod{1};

// What the first call waits at most for a unix socket, so that the streams
// which follow use it: the answer takes about 1 ms.
constexpr std::chrono::milliseconds kUnixSocketWait{100};

std::shared_ptr<grpc::Channel> NewChannel(const std::string& target,
                                          bool pings) {
  grpc::ChannelArguments args = rpc::ChannelArgs(pings);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectAttemptMs);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  // Clients share no connection, and so no connection's trouble.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(),
                                   args);
}

// "host" of "host", "host:port" and "[v6]:port".
absl::string_view HostOf(absl::string_view address) {
  if (absl::ConsumePrefix(&address, "[")) {
    return address.substr(0, address.find(']'));
  }
  const size_t colon = address.find(':');
  // More than one colon: an IPv6 address without a port.
  if (colon != address.rfind(':')) return address;
  return address.substr(0, colon);
}

bool IsNumeric(const std::string& host) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

bool IsLoopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof(v4));
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  sockaddr_in6 v6;
  std::memcpy(&v6, address, sizeof(v6));
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

// Whether `host` has exactly one address; all of loopback count as one.
bool LookUpIsOne(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
  std::set<std::string> distinct;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    if (a->ai_family != AF_INET && a->ai_family != AF_INET6) continue;
    distinct.insert(IsLoopback(a->ai_addr)
                        ? std::string("loopback")
                        : std::string(reinterpret_cast<const char*>(a->ai_addr),
                                      a->ai_addrlen));
  }
  freeaddrinfo(found);
  return distinct.size() == 1;
}

}  // namespace

TargetKind ClassifyTarget(absl::string_view target) {
  if (absl::ConsumePrefix(&target, "ipv4:") ||
      absl::ConsumePrefix(&target, "ipv6:")) {
    return {.several = absl::StrContains(target, ',')};
  }
  if (absl::StartsWith(target, "unix:") ||
      absl::StartsWith(target, "unix-abstract:")) {
    return {};
  }
  if (absl::ConsumePrefix(&target, "dns:")) {
    if (absl::ConsumePrefix(&target, "//")) {
      const size_t slash = target.find('/');
      if (slash == absl::string_view::npos) return {.several = true};
      target.remove_prefix(slash + 1);
    }
  } else if (absl::StrContains(target, "://")) {
    return {.several = true};  // a scheme we don't know
  }
  std::string host(HostOf(target));
  if (host == "localhost" || IsNumeric(host)) return {};
  return {.host_to_look_up = std::move(host)};
}

// Shared with the thread that looks up, which may outlive the channels.
struct Channels::Lookup {
  const TargetKind kind;
  Mutex mu;
  bool is_one ABSL_GUARDED_BY(mu) = false;
  bool running ABSL_GUARDED_BY(mu) = false;
  SteadyTime next ABSL_GUARDED_BY(mu){};

  explicit Lookup(TargetKind k) : kind(std::move(k)) {}
};

Channels::Channels(std::string target)
    : target_(std::move(target)),
      lookup_(std::make_shared<Lookup>(ClassifyTarget(target_))) {}

std::shared_ptr<grpc::Channel> Channels::Best() {
  const bool one = HasOneAddress();
  MutexLock lock(mu_);
  if (one && unix_ != nullptr) return unix_;
  return OverTcpLocked(one);
}

std::shared_ptr<grpc::Channel> Channels::OverTcp() {
  const bool one = HasOneAddress();
  MutexLock lock(mu_);
  return OverTcpLocked(one);
}

std::shared_ptr<grpc::Channel> Channels::OverTcpLocked(bool one) {
  if (one && pings_allowed_ && !pings_refused_) {
    if (pinging_ == nullptr) pinging_ = NewChannel(target_, /*pings=*/true);
    return pinging_;
  }
  if (quiet_ == nullptr) quiet_ = NewChannel(target_, /*pings=*/false);
  return quiet_;
}

void Channels::NoteServer(const rpc::Metadata& metadata) {
  const auto id = rpc::FindMetadata(metadata, rpc::kServerIdKey);
  if (!id) return;
  const auto path = rpc::FindMetadata(metadata, rpc::kUnixSocketKey);
  const bool one = HasOneAddress();
  {
    MutexLock lock(mu_);
    pings_allowed_ = true;
    if (!path || !one || attempting_ || unix_ != nullptr ||
        unreachable_ == *id || !rpc::UnixSocketsWanted()) {
      return;
    }
    attempting_ = true;
  }
  ConnectSameHost(std::string(*path), std::string(*id),
                  [weak = weak_from_this(), id = std::string(*id)](
                      std::shared_ptr<grpc::Channel> channel) {
                    if (auto self = weak.lock()) {
                      self->NoteUnixSocket(id, std::move(channel));
                    }
                  });
}

void Channels::NoteUnixSocket(const std::string& server_id,
                              std::shared_ptr<grpc::Channel> channel) {
  MutexLock lock(mu_);
  attempting_ = false;
  if (channel == nullptr) {
    unreachable_ = server_id;
  } else {
    unix_ = std::move(channel);
    ++generation_;
  }
  attempted_.NotifyAll();
}

void Channels::WaitForUnixSocket() {
  const SteadyTime until = Clock::Real().Now() + kUnixSocketWait;
  MutexLock lock(mu_);
  while (attempting_ && attempted_.WaitUntil(mu_, until)) {
  }
}

void Channels::NoteLost(const grpc::Channel& channel,
                        const absl::Status& status) {
  // A call that ended well, or that we cancelled, says nothing about its
  // connection.
  if (status.ok() || absl::IsCancelled(status) || !IsLostConnection(status)) {
    return;
  }
  std::shared_ptr<grpc::Channel> lost;  // let go after unlocking
  MutexLock lock(mu_);
  if (unix_.get() == &channel) {
    lost.swap(unix_);
    ++generation_;
    return;
  }
  if (absl::StrContains(status.message(), "too_many_pings") ||
      absl::StrContains(status.message(), "Too many pings")) {
    pings_refused_ = true;
  }
}

bool Channels::IsConnected(grpc::Channel& channel) {
  {
    MutexLock lock(mu_);
    if (unix_.get() == &channel) return true;
  }
  return channel.GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY;
}

bool Channels::UsesUnixSocket() {
  const bool one = HasOneAddress();
  MutexLock lock(mu_);
  return one && unix_ != nullptr;
}

int64_t Channels::generation() {
  MutexLock lock(mu_);
  return generation_;
}

bool Channels::HasOneAddress() {
  const std::shared_ptr<Lookup>& lookup = lookup_;
  if (lookup->kind.several) return false;
  if (lookup->kind.host_to_look_up.empty()) return true;
  const SteadyTime now = Clock::Real().Now();
  MutexLock lock(lookup->mu);
  if (!lookup->running && now >= lookup->next) {
    lookup->running = true;
    lookup->next = now + kLookupPeriod;
    // A thread of its own, since a name server may keep it waiting.
    std::thread([lookup] {
      const bool is_one = LookUpIsOne(lookup->kind.host_to_look_up);
      MutexLock lock(lookup->mu);
      lookup->is_one = is_one;
      lookup->running = false;
    }).detach();
  }
  return lookup->is_one;
}

}  // namespace reverb
