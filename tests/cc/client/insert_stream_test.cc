// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/insert_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "reverb/cc/client/chunker.h"
#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/support/rng.h"
#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

class InsertStreamTest : public BothWaysTest {
 protected:
  void Connect(const TestServer& server) {
    endpoint_ = Endpoint::Create({.target = server.target(),
                                  .connect_timeout = 10,
                                  .reconnect_timeout = 5,
                                  .allow_in_process = in_process()});
    stream_ = InsertStream::Create(endpoint_);
  }
  ~InsertStreamTest() override {
    if (stream_) stream_->Close();
    if (endpoint_) endpoint_->Close();
  }

  // `count` items of one row, each of which charges as many bytes as given.
  static std::vector<OutgoingItem> Items(const std::string& table, int count,
                                         size_t charged_bytes = 0) {
    std::vector<OutgoingItem> items;
    for (int i = 0; i < count; ++i) {
      items.push_back(ItemOn(table, SealedChunk(i)));
      items.back().charged_bytes = charged_bytes;
    }
    return items;
  }
  static Ref<const Chunk> SealedChunk(int32_t value) {
    Chunker chunker({});
    EXPECT_TRUE(chunker.Append({Ints({value}).view()}, 1, 0).ok());
    return chunker.Seal();
  }
  static OutgoingItem ItemOn(std::string table, Ref<const Chunk> chunk) {
    Trajectory trajectory;
    trajectory.Add({.chunk = std::move(chunk), .offset = 0, .length = 1});
    return {.table = std::move(table),
            .priority = 1,
            .item = MakeRef<Item>(RandomKey(), std::move(trajectory))};
  }

  std::shared_ptr<Endpoint> endpoint_;
  std::shared_ptr<InsertStream> stream_;
};
INSTANTIATE_TEST_SUITE_P(Ways, InsertStreamTest, testing::Bool(), WayName);

TEST_P(InsertStreamTest, ChargesItemsUntilTheyAreDone) {
  TestServer server({QueueTable("q", 3)});
  Connect(server);
  EXPECT_EQ(stream_->pending_bytes(), 0);
  ASSERT_TRUE(stream_->Append(Items("q", 5, 100)).ok());
  ASSERT_TRUE(stream_->AwaitPending(2, Soon()).ok());
  EXPECT_EQ(stream_->pending_bytes(), 200);
  server.table("q").Reset().IgnoreError();
  ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  EXPECT_EQ(stream_->pending_bytes(), 0);
}

TEST_P(InsertStreamTest, ChargesNothingForRefusedItems) {
  TestServer server({QueueTable("q", 1)});
  Connect(server);
  // After the first confirmation the stream knows what the server offers.
  ASSERT_TRUE(stream_->Append(Items("q", 1, 7)).ok());
  ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  ASSERT_TRUE(stream_->Append(Items("q", 1, 7), kNoDeadline, true).ok());
  ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  EXPECT_EQ(stream_->TakeRefused().size(), 1u);
  EXPECT_EQ(stream_->pending_bytes(), 0);
}

TEST_P(InsertStreamTest, KeptChunksServeLaterItems) {
  TestServer server({UniformTable("t")});
  Connect(server);
  const Ref<const Chunk> a = SealedChunk(1), b = SealedChunk(2);
  stream_->UpdateKept({a, b}, {});
  for (const auto& chunk : {a, b, a}) {
    ASSERT_TRUE(stream_->Append({ItemOn("t", chunk)}).ok());
    ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  }
  // One that was let go is sent again when it is needed after all.
  stream_->UpdateKept({}, {a->key()});
  for (const auto& chunk : {b, a, b}) {
    ASSERT_TRUE(stream_->Append({ItemOn("t", chunk)}).ok());
    ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  }
  EXPECT_EQ(server.table("t").size(), 6);
}

TEST_P(InsertStreamTest, WhatGathersGoesThoughNobodyWaits) {
  TestServer server({UniformTable("t")});
  Connect(server);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(stream_->Append(Items("t", 1)).ok());
  }
  EXPECT_TRUE(Eventually([&] { return stream_->num_pending() == 0; }));
  EXPECT_EQ(server.table("t").size(), 20);
}

TEST_P(InsertStreamTest, SmallItemsThatGatherKeepTheirOrder) {
  TestServer server({UniformTable("t")});
  Connect(server);
  std::vector<ItemKey> keys;
  for (int i = 0; i < 500; ++i) {
    std::vector<OutgoingItem> one = Items("t", 1);
    keys.push_back(one[0].item->key());
    ASSERT_TRUE(stream_->Append(std::move(one)).ok());
  }
  ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  auto client = BothWaysTest::Connect(server);
  auto sampler = *client->NewSampler({.table = "t", .max_samples = 1});
  EXPECT_EQ(server.table("t").size(), 500);
  EXPECT_EQ(sampler->Next(Soon())->key, keys[0]);
}

TEST_P(InsertStreamTest, KeptChunksOutliveAServer) {
  TestServer server({UniformTable("t")});
  Connect(server);
  const Ref<const Chunk> a = SealedChunk(1), b = SealedChunk(2);
  stream_->UpdateKept({a, b}, {});
  ASSERT_TRUE(stream_->Append({ItemOn("t", a)}).ok());
  ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  server.Restart();
  for (const auto& chunk : {b, a, b}) {
    ASSERT_TRUE(stream_->Append({ItemOn("t", chunk)}).ok());
    ASSERT_TRUE(stream_->AwaitPending(0, Soon()).ok());
  }
  EXPECT_EQ(server.table("t").size(), 3);
}

}  // namespace
}  // namespace reverb
