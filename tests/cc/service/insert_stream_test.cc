// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/support/error_info.h"
#include "tests/cc/service/service_fixture.h"

namespace reverb {
namespace {

using ::testing::HasSubstr;

using InsertStreamTest = ServiceTest;

TEST_F(InsertStreamTest, ConfirmsEveryItemOnce) {
  auto call = Call(rpc::kInsertStreamMethod);
  wire::InsertRequestBuilder builder;
  std::multiset<ItemKey> sent;
  for (ItemKey key = 1; key <= 100; ++key) {
    const Ref<const Chunk> chunk = TestChunk(key);
    builder.AddChunk(chunk);
    builder.AddItem(key % 2 == 0 ? "uniform" : "prioritized", 1,
                    *ItemWith(key, chunk));
    sent.insert(key);
  }
  ASSERT_TRUE(call->Write(builder.Build()));
  EXPECT_EQ(ReadKeys(*call, sent.size()), sent);
  EXPECT_EQ(TableOf("uniform")->size(), 50);
  EXPECT_EQ(TableOf("prioritized")->size(), 50);
  call->HalfClose();
  EXPECT_EQ(call->Read(), std::nullopt);
  EXPECT_TRUE(call->Finish().ok());
}

TEST_F(InsertStreamTest, AKeySentAgainIsConfirmedAgain) {
  Insert("uniform", {1, 1, 1});
  EXPECT_EQ(TableOf("uniform")->size(), 1);
}

TEST_F(InsertStreamTest, AHalfCloseWaitsForTheConfirmations) {
  auto call = Call(rpc::kInsertStreamMethod);
  for (ItemKey key = 1; key <= 3; ++key) {
    ASSERT_TRUE(call->Write(OneItem(key, "small")));
  }
  call->HalfClose();
  EXPECT_EQ(ReadKeys(*call, 2), (std::multiset<ItemKey>{1, 2}));

  auto reader = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(reader->Write(SampleRequestFor("small", 1)));
  EXPECT_EQ(ReadSamples(*reader, 1), std::vector<ItemKey>{1});
  EXPECT_EQ(ReadKeys(*call, 1), std::multiset<ItemKey>{3});
  EXPECT_EQ(call->Read(), std::nullopt);
  EXPECT_TRUE(call->Finish().ok());
}

TEST_F(InsertStreamTest, ACancelledStreamKeepsItsQueuedInserts) {
  auto call = Call(rpc::kInsertStreamMethod);
  for (ItemKey key = 1; key <= 3; ++key) {
    ASSERT_TRUE(call->Write(OneItem(key, "small")));
  }
  ASSERT_TRUE(Eventually(
      [&] { return TableOf("small")->GetInfo().waiting_inserts == 1; }));
  call->Cancel();
  EXPECT_TRUE(absl::IsCancelled(call->Drain()));
  auto reader = Call(rpc::kSampleStreamMethod);
  ASSERT_TRUE(reader->Write(SampleRequestFor("small", 3)));
  EXPECT_EQ(ReadSamples(*reader, 3), (std::vector<ItemKey>{1, 2, 3}));
}

TEST_F(InsertStreamTest, EveryErrorHasItsCodeAndQueuesNothing) {
  const Ref<const Chunk> chunk = TestChunk(1, 3);
  const auto message = [&](absl::string_view table, double priority,
                           const Item& item, std::vector<ChunkKey> keep) {
    wire::InsertRequestBuilder builder;
    builder.AddChunk(chunk);
    // A good one before, which must not get in alone.
    builder.AddItem("uniform", 1, *ItemWith(1, chunk));
    builder.AddItem(table, priority, item);
    builder.SetKeepChunkKeys(keep);
    return builder.Build().Flatten();
  };
  const Ref<Item> good = ItemWith(2, chunk);
  const Ref<Item> empty = MakeRef<Item>(ItemKey{2}, Trajectory());
  const Ref<Item> strange = ItemWith(2, TestChunk(77));
  wire::InsertRequestBuilder keep_only;
  keep_only.SetKeepChunkKeys({5});
  const struct {
    std::string request;
    absl::StatusCode code;
    const char* text;
  } cases[] = {
      {"", absl::StatusCode::kInvalidArgument, "neither"},
      {keep_only.Build().Flatten(), absl::StatusCode::kInvalidArgument,
       "neither"},
      {message("uniform", 1, *strange, {1}), absl::StatusCode::kInternal,
       "Could not find sequence chunk 77."},
      {message("missing", 1, *good, {1}), absl::StatusCode::kNotFound,
       "Priority table missing was not found"},
      {message("uniform", 1, *empty, {1}), absl::StatusCode::kInvalidArgument,
       "Item trajectory must not be empty."},
      {message("uniform", 1, *good, {1, 2}),
       absl::StatusCode::kFailedPrecondition, "chunk 2"},
      {message("uniform", 1, *good, {1, 1}),
       absl::StatusCode::kFailedPrecondition, "more than once"},
      {message("uniform", 1, *ItemWith(2, chunk, 2, 2), {1}),
       absl::StatusCode::kInvalidArgument, "3 rows"},
      {message("uniform", 1, *ItemWith(2, chunk, -1, 1), {1}),
       absl::StatusCode::kInvalidArgument, "offset -1"},
      {message("prioritized", -1, *good, {1}),
       absl::StatusCode::kInvalidArgument, "prioritized"},
      {message("prioritized", std::nan(""), *good, {1}),
       absl::StatusCode::kInvalidArgument, "prioritized"},
      {"\x0a\xff", absl::StatusCode::kInvalidArgument, ""},
  };
  for (const auto& c : cases) {
    const absl::Status status = Once(rpc::kInsertStreamMethod, c.request);
    EXPECT_EQ(status.code(), c.code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.text));
    EXPECT_NE(status.message(), "");
  }
  for (const auto& table : core_->tables()) EXPECT_EQ(table->size(), 0);
  ExpectAlive();
}

TEST_F(InsertStreamTest, ErrorsCarryTheirDetailsToCallersThatAskForThem) {
  auto call = Call(rpc::kInsertStreamMethod, "");
  call->Write(OneItem(1, "prioritized", -2));
  const auto info = GetErrorInfo(call->Drain());
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->table, "prioritized");
  EXPECT_EQ(info->actual, "-2");

  auto plain = Call(rpc::kInsertStreamMethod);
  plain->Write(OneItem(1, "prioritized", -2));
  EXPECT_EQ(GetErrorInfo(plain->Drain()), std::nullopt);
  EXPECT_EQ(plain->num_trailers(), 0u);
}

TEST_F(InsertStreamTest, ASessionIdMustBeOne) {
  for (const std::string& id :
       {std::string("1234"), std::string(32, 'x'), std::string(33, 'a')}) {
    auto call = Call(rpc::kInsertStreamMethod, "session", id);
    call->Write(OneItem(1, "uniform"));
    EXPECT_TRUE(absl::IsInvalidArgument(call->Drain())) << id;
  }
  // It means nothing to a caller that hasn't asked for the feature.
  auto call = Call(rpc::kInsertStreamMethod, "wait", "1234");
  call->Write(OneItem(1, "uniform"));
  call->HalfClose();
  EXPECT_TRUE(call->Drain().ok());
}

TEST_F(InsertStreamTest, ANewStreamOfASessionEndsTheOldOne) {
  const std::string id(32, 'a');
  auto first = Call(rpc::kInsertStreamMethod, "session", id);
  first->ReadInitialMetadata();
  auto second = Call(rpc::kInsertStreamMethod, "session", id);
  EXPECT_TRUE(absl::IsAborted(first->Drain()));
  second->HalfClose();
  EXPECT_TRUE(second->Drain().ok());
}

TEST_F(InsertStreamTest, WhatWasConfirmedIsToldBeforeAnError) {
  auto call = Call(rpc::kInsertStreamMethod);
  call->Write(OneItem(1, "uniform"));
  call->Write(OneItem(2, "missing"));
  EXPECT_EQ(ReadKeys(*call, 1), std::multiset<ItemKey>{1});
  EXPECT_TRUE(absl::IsNotFound(call->Drain()));
}

TEST_F(InsertStreamTest, RefusesWhatWaitedForTooLong) {
  auto call = Call(rpc::kInsertStreamMethod, "wait");
  for (ItemKey key = 1; key <= 3; ++key) {
    const Ref<const Chunk> chunk = TestChunk(key);
    wire::InsertRequestBuilder builder;
    builder.AddChunk(chunk);
    builder.AddItem("small", 1, *ItemWith(key, chunk));
    builder.SetWait(0);
    ASSERT_TRUE(call->Write(builder.Build()));
  }
  std::set<ItemKey> confirmed, refused;
  while (confirmed.size() + refused.size() < 3) {
    const auto message = call->Read();
    ASSERT_TRUE(message.has_value()) << call->Finish();
    const auto done = wire::ParseInsertResponse(*message);
    ASSERT_TRUE(done.ok());
    confirmed.insert(done->confirmed.begin(), done->confirmed.end());
    refused.insert(done->refused.begin(), done->refused.end());
  }
  EXPECT_EQ(confirmed, (std::set<ItemKey>{1, 2}));
  EXPECT_EQ(refused, std::set<ItemKey>{3});
}

TEST_F(InsertStreamTest, UnreferencedChunksAreLimited) {
  Limits limits;
  limits.max_unreferenced_bytes = 100'000;
  Start(limits);
  auto call = Call(rpc::kInsertStreamMethod, "");
  bool open = true;
  for (ChunkKey key = 1; open && key < 1000; ++key) {
    wire::InsertRequestBuilder builder;
    builder.AddChunk(TestChunk(key, 1, 10'000));
    open = call->Write(builder.Build());
  }
  const absl::Status status = call->Drain();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  ASSERT_TRUE(GetErrorInfo(status).has_value());
  EXPECT_EQ(GetErrorInfo(status)->limit, "100000");
  ExpectAlive();
}

TEST_F(InsertStreamTest, ItemsOfOneMessageAreLimited) {
  Limits limits;
  limits.max_items_per_message = 10;
  Start(limits);
  wire::InsertRequestBuilder builder;
  const Ref<const Chunk> chunk = TestChunk(1);
  builder.AddChunk(chunk);
  for (ItemKey key = 1; key <= 11; ++key) {
    builder.AddItem("uniform", 1, *ItemWith(key, chunk));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(
      Once(rpc::kInsertStreamMethod, builder.Build().Flatten())));
  EXPECT_EQ(TableOf("uniform")->size(), 0);
  ExpectAlive();
}

TEST_F(InsertStreamTest, MessagesAreLimited) {
  Limits limits;
  limits.max_message_bytes = 100'000;
  Start(limits);
  EXPECT_TRUE(absl::IsResourceExhausted(
      Once(rpc::kInsertStreamMethod, OneItem(1, "uniform", 1, 200'000))));
  ExpectAlive();
}

TEST_F(InsertStreamTest, AFullTableStopsTheReading) {
  auto call = Call(rpc::kInsertStreamMethod);
  constexpr int kItems = 64;
  constexpr int64_t kBytes = 1'000'000;
  // Writes until the server no longer takes them in: gRPC completes a write
  // when it has passed the flow control window.
  std::thread writer([&] {
    for (ItemKey key = 1; key <= kItems; ++key) {
      ASSERT_TRUE(call->Write(OneItem(key, "small", 1, kBytes)));
    }
    call->HalfClose();
  });
  const auto reader = Call(rpc::kSampleStreamMethod);
  for (ItemKey key = 1; key <= kItems; ++key) {
    // However fast the writer is, no more waits than was read before the
    // queue was full.
    EXPECT_LE(TableOf("small")->GetInfo().waiting_inserts, 3);
    ASSERT_TRUE(reader->Write(SampleRequestFor("small", 1)));
    EXPECT_EQ(ReadSamples(*reader, 1), std::vector<ItemKey>{key});
  }
  writer.join();
  EXPECT_EQ(ReadKeys(*call, kItems).size(), size_t{kItems});
  EXPECT_TRUE(call->Drain().ok());
}

}  // namespace
}  // namespace reverb
