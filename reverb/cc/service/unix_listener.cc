// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/unix_listener.h"

#include <grpcpp/server_posix.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/log.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

namespace fs = std::filesystem;

constexpr char kFolderPrefix[] = "reverb-socket-";
constexpr char kSocketName[] = "s";
constexpr int kBacklog = 256;

// A folder this old whose socket refuses connections has lost its server; a
// younger one may be about to listen.
constexpr std::chrono::seconds kSettled{60};

// How long to pause when the process has no more descriptors.
constexpr int kPauseMs = 100;

// Where folders are made: the first that works. Null: none.
std::array<const char*, 3> Places() {
  return {std::getenv("XDG_RUNTIME_DIR"), std::getenv("TMPDIR"), "/tmp"};
}

bool NobodyListens(const std::string& path) {
  auto fd = rpc::NewUnixSocket();
  auto address = rpc::UnixAddress(path);
  if (!fd.ok() || !address.ok()) return false;
  return ::connect(fd->get(), reinterpret_cast<const sockaddr*>(&*address),
                   sizeof(*address)) != 0 &&
         errno == ECONNREFUSED;
}

// Takes away what servers that were killed left in `place`.
void RemoveAbandoned(const std::string& place) {
  std::error_code error;
  const auto settled = fs::file_time_type::clock::now() - kSettled;
  for (fs::directory_iterator entry(place, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& folder = entry->path();
    if (!absl::StartsWith(folder.filename().string(), kFolderPrefix) ||
        !rpc::IsPrivateFolder(folder.string())) {
      continue;
    }
    std::error_code ignored;
    if (fs::last_write_time(folder, ignored) > settled || ignored) continue;
    const fs::path socket = folder / kSocketName;
    if (!NobodyListens(socket.string())) continue;
    fs::remove(socket, ignored);
    fs::remove(folder, ignored);
  }
}

absl::StatusOr<rpc::UniqueFd> ListenAt(const std::string& path) {
  REVERB_ASSIGN_OR_RETURN(const sockaddr_un address, rpc::UnixAddress(path));
  REVERB_ASSIGN_OR_RETURN(rpc::UniqueFd fd, rpc::NewUnixSocket());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("can't listen at ", path));
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixListener>> UnixListener::Create() {
  std::unique_ptr<UnixListener> listener(new UnixListener);
  listener->stop_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!listener->stop_.valid()) return absl::ErrnoToStatus(errno, "no eventfd");
  absl::Status status;
  for (const char* place : Places()) {
    if (place == nullptr || place[0] != '/') continue;
    RemoveAbandoned(place);
    std::string folder = absl::StrCat(place, "/", kFolderPrefix, "XXXXXX");
    if (::mkdtemp(folder.data()) == nullptr) {  // of mode 0700
      status = absl::ErrnoToStatus(errno, absl::StrCat("can't make ", folder));
      continue;
    }
    const std::string path = absl::StrCat(folder, "/", kSocketName);
    absl::StatusOr<rpc::UniqueFd> listening = ListenAt(path);
    if (listening.ok()) {
      listener->folder_ = std::move(folder);
      listener->path_ = path;
      listener->listening_ = *std::move(listening);
      return listener;
    }
    ::rmdir(folder.c_str());
    status = listening.status();
  }
  return status;
}

UnixListener::~UnixListener() {
  Stop();
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void UnixListener::Serve(grpc::Server& server) {
  thread_ = std::thread([this, &server] { Run(server); });
}

void UnixListener::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  // A full counter wakes the thread as well.
  [[maybe_unused]] const ssize_t written =
      ::write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

void UnixListener::Run(grpc::Server& server) {
  while (true) {
    pollfd waits[] = {{listening_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    rpc::UniqueFd fd(::accept4(listening_.get(), nullptr, nullptr,
                               SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      // Others wait in the backlog, and stay on TCP when it is full.
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        ::poll(&waits[1], 1, kPauseMs);
      }
      continue;
    }
    if (!rpc::PeerIsSameUser(fd.get())) {
      LogWarning(
          absl::StrCat("refused a connection of another user at ", path_));
      continue;
    }
    rpc::EnlargeBuffers(fd.get());
    grpc::AddInsecureChannelFromFd(&server, fd.Release());
  }
}

}  // namespace reverb
