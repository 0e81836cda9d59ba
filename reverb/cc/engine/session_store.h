// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What was inserted by clients that number their items, so that none is
// inserted twice however often its stream breaks (feature `session`).
//
// A client's items are numbered upwards over all of its streams. It never sends
// one that is more than 4,095 ahead of the oldest that is not confirmed, so
// that is how far back a log remembers.

#ifndef REVERB_CC_ENGINE_SESSION_STORE_H_
#define REVERB_CC_ENGINE_SESSION_STORE_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"

#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

class CoreInsertSession;

// A set of numbers that remembers those around the largest.
// Threads: thread-compatible.
class SeenNumbers {
 public:
  static constexpr uint64_t kReach = 4096;

  void Add(uint64_t number);
  bool Contains(uint64_t number) const;
  // Whether it is too far below the largest to be known.
  bool IsForgotten(uint64_t number) const {
    return !empty_ && number + kReach <= largest_;
  }

 private:
  bool empty_ = true;
  uint64_t largest_ = 0;
  // The bit of a number is at `number % kReach`.
  std::array<uint64_t, kReach / 64> bits_{};
};

// The items of one client.
// Threads: thread-safe.
class InsertLog {
 public:
  enum class State { kNew, kInserted, kForgotten };
  State Find(uint64_t number) const;
  void Add(uint64_t number);

  // Makes `stream` the one that inserts; returns the one before, if it has
  // not been let go of. Holds on to it: what it has inserted must be noted.
  std::shared_ptr<CoreInsertSession> SetStream(
      std::shared_ptr<CoreInsertSession> stream);
  // Nothing more can come from `stream`.
  void LetGo(const CoreInsertSession* stream);

 private:
  mutable Mutex mu_;
  SeenNumbers seen_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<CoreInsertSession> stream_ ABSL_GUARDED_BY(mu_);
};

// The logs of all clients, by session id.
// Threads: thread-safe.
class SessionStore {
 public:
  // How long, and how many, logs are kept of clients without a stream.
  static constexpr SteadyDuration kKeepFor = std::chrono::minutes(10);
  static constexpr size_t kKeepCount = 20'000;

  explicit SessionStore(const Clock& clock) : clock_(clock) {}

  // The log of session `id`, a new one if it isn't known. Each call is
  // followed by a `Close` when the stream has ended.
  std::shared_ptr<InsertLog> Open(const std::string& id);
  void Close(const std::string& id);
  size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<InsertLog> log;
    int num_streams = 0;
    uint64_t closing = 0;  // number of its last entry in `closed_`
  };
  struct Closed {
    std::string id;
    SteadyTime when;
    uint64_t closing = 0;
  };

  void SweepLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
  std::deque<Closed> closed_ ABSL_GUARDED_BY(mu_);  // the oldest first
  uint64_t num_closings_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_SESSION_STORE_H_
