// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The server a client talks to, shared by the client and all it has made: the
// way to it, and how long to wait while it is away.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_ENDPOINT_H_
#define REVERB_CC_CLIENT_ENDPOINT_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/client/backend.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

class RemoteBackend;

// What ends when its client, or the process, does.
class Closable {
 public:
  virtual ~Closable() = default;
  virtual void Close() = 0;
};

class Endpoint : public std::enable_shared_from_this<Endpoint> {
 public:
  struct Options {
    std::string target;
    std::optional<double> connect_timeout;    // seconds; none: for ever
    std::optional<double> reconnect_timeout;  // seconds; none: for ever
    bool allow_in_process = true;
  };

  static std::shared_ptr<Endpoint> Create(Options options);
  // Closes all there are and will be.
  static void CloseAll();
  ~Endpoint();

  const Options& options() const { return options_; }

  // The way as of now: straight into this process if the server is here.
  std::shared_ptr<Backend> backend();

  // OK, Cancelled after `Close`, FailedPrecondition in a forked child.
  absl::Status Check() const;

  // Whether a stream may be kept for another call: only while all streams
  // reach the same server.
  bool StreamsAreAlike();
  // Changes when new streams take another way than those before.
  int64_t generation();
  // The way as of now: "in_process", "unix" or "tcp".
  absl::string_view transport();

  // Has `child` closed with the endpoint; at once if that was closed.
  void Adopt(const std::shared_ptr<Closable>& child);
  void Close();
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  // For `AwayTimer`: whether the server was ever reached, and whether to warn
  // that it was not (true once).
  bool reached() const { return reached_.load(std::memory_order_relaxed); }
  void NoteReached() { reached_.store(true, std::memory_order_relaxed); }
  bool TakeWarning() { return !warned_.exchange(true); }

 private:
  explicit Endpoint(Options options);

  bool IsInProcess() const;

  const Options options_;
  const std::shared_ptr<RemoteBackend> remote_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> reached_{false};
  std::atomic<bool> warned_{false};
  Mutex mu_;
  std::vector<std::weak_ptr<Closable>> children_ ABSL_GUARDED_BY(mu_);
  size_t sweep_at_ ABSL_GUARDED_BY(mu_) = 16;
};

// Decides when a waiting call gives up on a server that is away: after
// `reconnect_timeout` from the loss of a connection, `connect_timeout` where
// there never was one. One per waiting call.
//
// Threads: one thread.
class AwayTimer {
 public:
  explicit AwayTimer(Endpoint& endpoint) : endpoint_(endpoint) {}

  // Told about every 50 ms whether there is a connection. Unavailable when it
  // is time to give up.
  absl::Status Check(bool connected, SteadyTime now);

 private:
  Endpoint& endpoint_;
  std::optional<SteadyTime> since_;
};

// Whether a stream that ended so is opened anew: the server went away, rather
// than refused.
bool IsLostConnection(const absl::Status& status);

// Pauses between attempts: 1 ms doubling to 1 s.
class Backoff {
 public:
  SteadyDuration Next() {
    const SteadyDuration pause = pause_;
    pause_ = std::min<SteadyDuration>(2 * pause_, std::chrono::seconds(1));
    return pause;
  }
  void Reset() { pause_ = std::chrono::milliseconds(1); }

 private:
  SteadyDuration pause_ = std::chrono::milliseconds(1);
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_ENDPOINT_H_
