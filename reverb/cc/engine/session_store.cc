// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/session_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

// For the destructor of what a log holds.
#include "reverb/cc/engine/insert_session.h"

namespace reverb {
namespace {

uint64_t BitOf(uint64_t number) { return uint64_t{1} << (number % 64); }

size_t WordOf(uint64_t number) {
  return static_cast<size_t>(number % SeenNumbers::kReach / 64);
}

}  // namespace

void SeenNumbers::Add(uint64_t number) {
  if (empty_) {
    empty_ = false;
    largest_ = number;
  } else if (number > largest_) {
    // The bits of the numbers in between belonged to others.
    if (number - largest_ >= kReach) {
      bits_.fill(0);
    } else {
      for (uint64_t n = largest_ + 1; n < number; ++n) {
        bits_[WordOf(n)] &= ~BitOf(n);
      }
    }
    largest_ = number;
  } else if (IsForgotten(number)) {
    return;
  }
  bits_[WordOf(number)] |= BitOf(number);
}

bool SeenNumbers::Contains(uint64_t number) const {
  if (empty_ || number > largest_ || IsForgotten(number)) return false;
  return (bits_[WordOf(number)] & BitOf(number)) != 0;
}

InsertLog::State InsertLog::Find(uint64_t number) const {
  MutexLock lock(mu_);
  if (seen_.IsForgotten(number)) return State::kForgotten;
  return seen_.Contains(number) ? State::kInserted : State::kNew;
}

void InsertLog::Add(uint64_t number) {
  MutexLock lock(mu_);
  seen_.Add(number);
}

std::shared_ptr<CoreInsertSession> InsertLog::SetStream(
    std::shared_ptr<CoreInsertSession> stream) {
  MutexLock lock(mu_);
  return std::exchange(stream_, std::move(stream));
}

void InsertLog::LetGo(const CoreInsertSession* stream) {
  std::shared_ptr<CoreInsertSession> last;  // let go after unlocking
  MutexLock lock(mu_);
  if (stream_.get() == stream) last.swap(stream_);
}

std::shared_ptr<InsertLog> SessionStore::Open(const std::string& id) {
  MutexLock lock(mu_);
  SweepLocked();
  Entry& entry = entries_[id];
  if (entry.log == nullptr) entry.log = std::make_shared<InsertLog>();
  ++entry.num_streams;
  return entry.log;
}

void SessionStore::Close(const std::string& id) {
  MutexLock lock(mu_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (--entry.num_streams > 0) return;
  entry.closing = ++num_closings_;
  closed_.push_back({id, clock_.Now(), entry.closing});
  SweepLocked();
}

void SessionStore::SweepLocked() {
  const SteadyTime now = clock_.Now();
  while (!closed_.empty() && (closed_.size() > kKeepCount ||
                              closed_.front().when + kKeepFor <= now)) {
    const auto found = entries_.find(closed_.front().id);
    // Unless it has been opened since, or closed once more.
    if (found != entries_.end() && found->second.num_streams == 0 &&
        found->second.closing == closed_.front().closing) {
      entries_.erase(found);
    }
    closed_.pop_front();
  }
}

size_t SessionStore::size() const {
  MutexLock lock(mu_);
  return entries_.size();
}

}  // namespace reverb
