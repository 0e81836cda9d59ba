// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A server on loopback with the tables that most tests want, and the messages
// to fill them.

#ifndef REVERB_TESTS_CC_SERVICE_SERVICE_FIXTURE_H_
#define REVERB_TESTS_CC_SERVICE_SERVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "reverb/cc/codec/snappy_block.h"
#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/service/server.h"
#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/messages.h"
#include "tests/cc/service/test_client.h"

namespace reverb {

// Of one int8 tensor with `rows` rows of `row_bytes` zeros, not compressed.
inline Ref<const Chunk> TestChunk(ChunkKey key, int64_t rows = 1,
                                  int64_t row_bytes = 4) {
  EncodedTensor tensor;
  tensor.dtype = DType::kInt8;
  tensor.dims = {rows, row_bytes};
  tensor.raw_bytes = rows * row_bytes;
  SnappyStore(std::string(static_cast<size_t>(rows * row_bytes), '\0'),
              tensor.content);
  SequenceRange range;
  range.episode_id = key;
  range.end = static_cast<int32_t>(rows - 1);
  return wire::BuildChunk(key, range, /*delta_encoded=*/false, {&tensor, 1});
}

inline Ref<Item> ItemWith(ItemKey key, Ref<const Chunk> chunk,
                          int32_t offset = 0, int32_t length = 1) {
  Trajectory trajectory;
  trajectory.Add(
      {.chunk = std::move(chunk), .offset = offset, .length = length});
  return MakeRef<Item>(key, std::move(trajectory));
}

// A message with one chunk and the one item that refers to it.
inline std::string OneItem(ItemKey key, absl::string_view table,
                           double priority = 1, int64_t row_bytes = 4) {
  const Ref<const Chunk> chunk = TestChunk(key, 1, row_bytes);
  wire::InsertRequestBuilder builder;
  builder.AddChunk(chunk);
  builder.AddItem(table, priority, *ItemWith(key, chunk));
  return builder.Build().Flatten();
}

inline std::string SampleRequestFor(absl::string_view table, int64_t count,
                                    std::optional<int64_t> timeout_ms = {}) {
  SampleMessage message;
  message.table = std::string(table);
  message.num_samples = count;
  message.timeout_ms = timeout_ms;
  return wire::BuildSampleRequest(message);
}

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }

  void Start(const Limits& limits) {
    std::vector<std::shared_ptr<Table>> tables;
    for (const Table::Options& options : TableOptions()) {
      auto table = Table::Create(options);
      ASSERT_TRUE(table.ok()) << table.status();
      tables.push_back(*table);
    }
    auto core = ServerCore::Create(std::move(tables), limits);
    ASSERT_TRUE(core.ok()) << core.status();
    core_ = *core;
    auto server = Server::Start(core_, {});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = TestChannel(server_->port());
  }

  static std::vector<Table::Options> TableOptions() {
    Table::Options uniform;
    uniform.name = "uniform";
    uniform.sampler.kind = SelectorOptions::Kind::kUniform;
    uniform.remover.kind = SelectorOptions::Kind::kFifo;
    uniform.max_size = 10'000;
    uniform.rate_limiter.min_diff = std::numeric_limits<double>::lowest();
    uniform.rate_limiter.max_diff = std::numeric_limits<double>::max();

    Table::Options prioritized = uniform;
    prioritized.name = "prioritized";
    prioritized.sampler.kind = SelectorOptions::Kind::kPrioritized;
    prioritized.sampler.priority_exponent = 0.8;

    Table::Options queue = uniform;
    queue.name = "queue";
    queue.sampler.kind = SelectorOptions::Kind::kFifo;
    queue.max_size = 10;
    queue.max_times_sampled = 1;
    queue.rate_limiter.min_diff = 0;
    queue.rate_limiter.max_diff = 10;

    Table::Options small = queue;
    small.name = "small";
    small.max_size = 2;
    small.rate_limiter.max_diff = 2;

    Table::Options large = queue;
    large.name = "large";
    large.max_size = 10'000;
    large.rate_limiter.max_diff = 10'000;
    return {uniform, prioritized, queue, small, large};
  }

  std::shared_ptr<Table> TableOf(absl::string_view name) {
    return *core_->FindTable(name);
  }

  std::unique_ptr<TestCall> Call(
      const char* method, std::optional<std::string> features = std::nullopt,
      const std::string& session_id = "") {
    return std::make_unique<TestCall>(channel_, method, std::move(features),
                                      session_id);
  }

  // Inserts items with `keys` and waits for their confirmations.
  void Insert(absl::string_view table, const std::vector<ItemKey>& keys,
              int64_t row_bytes = 4) {
    auto call = Call(rpc::kInsertStreamMethod);
    for (ItemKey key : keys) {
      ASSERT_TRUE(call->Write(OneItem(key, table, 1, row_bytes)));
    }
    EXPECT_EQ(ReadKeys(*call, keys.size()),
              std::multiset<ItemKey>(keys.begin(), keys.end()));
    call->HalfClose();
    EXPECT_TRUE(call->Drain().ok());
  }

  // Reads confirmations until there are `count`.
  static std::multiset<ItemKey> ReadKeys(TestCall& call, size_t count) {
    std::multiset<ItemKey> keys;
    while (keys.size() < count) {
      const auto message = call.Read();
      if (!message) break;
      const auto done = wire::ParseInsertResponse(*message);
      EXPECT_TRUE(done.ok()) << done.status();
      keys.insert(done->confirmed.begin(), done->confirmed.end());
      EXPECT_TRUE(done->refused.empty());
    }
    return keys;
  }

  // Reads samples until there are `count`; their item keys, in order.
  static std::vector<ItemKey> ReadSamples(TestCall& call, size_t count) {
    std::vector<ItemKey> keys;
    size_t finished = 0;
    while (finished < count) {
      const auto message = call.Read();
      if (!message) break;
      const auto entries = wire::ParseSampleResponse(*message);
      EXPECT_TRUE(entries.ok()) << entries.status();
      for (const wire::SampleEntry& entry : *entries) {
        if (entry.info) keys.push_back(entry.info->item.key);
        if (entry.end_of_sequence) ++finished;
      }
    }
    EXPECT_EQ(keys.size(), finished);
    return keys;
  }

  // What one request and a half-close are answered with.
  absl::Status Once(const char* method, std::string request) {
    auto call = Call(method, "");
    call->Write(std::move(request));
    call->HalfClose();
    return call->Drain();
  }

  // The server serves everything as on its first day.
  void ExpectAlive() {
    Insert("uniform", {next_alive_key_++});
    auto call = Call(rpc::kSampleStreamMethod);
    ASSERT_TRUE(call->Write(SampleRequestFor("uniform", 1)));
    EXPECT_EQ(ReadSamples(*call, 1).size(), 1u);
    call->HalfClose();
    EXPECT_TRUE(call->Drain().ok());
    EXPECT_TRUE(Once(rpc::kServerInfoMethod, "").ok());
  }

  // Waits for what another thread of this process will bring about.
  template <typename Fn>
  static bool Eventually(Fn&& done) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  ItemKey next_alive_key_ = 1'000'000;
  std::shared_ptr<ServerCore> core_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace reverb

#endif  // REVERB_TESTS_CC_SERVICE_SERVICE_FIXTURE_H_
