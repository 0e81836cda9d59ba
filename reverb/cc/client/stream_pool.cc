// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/stream_pool.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace reverb {
namespace {

constexpr size_t kMaxIdle = 64;  // streams

}  // namespace

StreamPool::~StreamPool() {
  std::vector<std::shared_ptr<InsertStream>> idle;
  {
    MutexLock lock(mu_);
    idle.swap(idle_);
  }
  for (const auto& stream : idle) stream->Close();
}

std::shared_ptr<InsertStream> StreamPool::Take() {
  std::vector<std::shared_ptr<InsertStream>> stale;
  std::shared_ptr<InsertStream> stream;
  const bool alike = endpoint_->StreamsAreAlike();
  const int64_t generation = endpoint_->generation();
  {
    MutexLock lock(mu_);
    if (!alike || std::exchange(generation_, generation) != generation) {
      stale.swap(idle_);
    }
    while (stream == nullptr && !idle_.empty()) {
      stream = std::move(idle_.back());
      idle_.pop_back();
      if (!stream->status().ok()) stale.push_back(std::move(stream));
    }
  }
  for (const auto& old : stale) old->Close();
  return stream != nullptr ? stream : InsertStream::Create(endpoint_);
}

void StreamPool::Give(std::shared_ptr<InsertStream> stream) {
  const bool keep = stream->status().ok() && stream->num_pending() == 0 &&
                    endpoint_->StreamsAreAlike();
  if (keep) {
    MutexLock lock(mu_);
    if (idle_.size() < kMaxIdle) {
      idle_.push_back(std::move(stream));
      return;
    }
  }
  stream->Close();
}

}  // namespace reverb
