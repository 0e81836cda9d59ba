// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Tables, chunks, messages and a listener for tests of sessions.

#ifndef REVERB_TESTS_CC_ENGINE_TEST_SESSION_H_
#define REVERB_TESTS_CC_ENGINE_TEST_SESSION_H_

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/engine/session.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/table/table.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

inline Table::Options UniformTable(std::string name) {
  Table::Options options;
  options.name = std::move(name);
  options.sampler.kind = SelectorOptions::Kind::kUniform;
  options.remover.kind = SelectorOptions::Kind::kFifo;
  options.max_size = 10'000;
  options.rate_limiter.min_diff = std::numeric_limits<double>::lowest();
  options.rate_limiter.max_diff = std::numeric_limits<double>::max();
  return options;
}

inline Table::Options PrioritizedTable(std::string name) {
  Table::Options options = UniformTable(std::move(name));
  options.sampler.kind = SelectorOptions::Kind::kPrioritized;
  options.sampler.priority_exponent = 1;
  return options;
}

// Holds `size` items that were not sampled yet; sampling removes.
inline Table::Options QueueTable(std::string name, int64_t size) {
  Table::Options options = UniformTable(std::move(name));
  options.sampler.kind = SelectorOptions::Kind::kFifo;
  options.max_size = size;
  options.max_times_sampled = 1;
  options.rate_limiter.min_diff = 0;
  options.rate_limiter.max_diff = static_cast<double>(size);
  return options;
}

// Of one tensor with `rows` rows; `size` bytes that only look like a message.
inline Ref<const Chunk> FakeChunk(ChunkKey key, int32_t rows,
                                  size_t size = 16) {
  Chunk::Header header;
  header.key = key;
  header.range.episode_id = key;
  header.range.end = rows - 1;
  header.tensor_rows = {rows};
  auto bytes = std::make_unique<char[]>(size);
  std::memset(bytes.get(), 0, size);
  return Ref<const Chunk>(new Chunk(std::move(header), std::move(bytes), size));
}

inline SliceMessage Rows(ChunkKey chunk, int32_t offset, int32_t length) {
  SliceMessage slice;
  slice.chunk_key = chunk;
  slice.offset = offset;
  slice.length = length;
  return slice;
}

inline ItemMessage ItemOf(ItemKey key, std::string table, SliceMessage slice,
                          double priority = 1) {
  ItemMessage item;
  item.key = key;
  item.table = std::move(table);
  item.priority = priority;
  item.slices.push_back(slice);
  return item;
}

// One chunk of one row with the key of the one item that refers to it.
inline InsertMessage OneItem(ItemKey key, std::string table,
                             double priority = 1) {
  InsertMessage message;
  message.chunks.push_back(FakeChunk(key, 1));
  message.items.push_back(
      ItemOf(key, std::move(table), Rows(key, 0, 1), priority));
  return message;
}

class TestListener final : public SessionListener {
 public:
  void OnProgress() override {
    MutexLock lock(mu_);
    ++num_calls_;
    called_.NotifyAll();
  }

  int num_calls() {
    MutexLock lock(mu_);
    return num_calls_;
  }

  // Waits until `done`, which is asked after every call; false if it took too
  // long.
  bool WaitUntil(const std::function<bool()>& done) {
    const SteadyTime deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(30);
    int seen = -1;
    while (!done()) {
      MutexLock lock(mu_);
      while (seen == num_calls_) {
        if (!called_.WaitUntil(mu_, deadline)) return false;
      }
      seen = num_calls_;
    }
    return true;
  }

 private:
  Mutex mu_;
  CondVar called_;
  int num_calls_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace reverb

#endif  // REVERB_TESTS_CC_ENGINE_TEST_SESSION_H_
