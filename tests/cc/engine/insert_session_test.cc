// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/support/error_info.h"
#include "tests/cc/engine/test_session.h"

namespace reverb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InsertSessionTest : public ::testing::Test {
 protected:
  void SetUp() override { Start({}); }

  void Start(const Limits& limits) {
    std::vector<std::shared_ptr<Table>> tables;
    for (const Table::Options& options :
         {UniformTable("uniform"), PrioritizedTable("prioritized"),
          QueueTable("queue", 2)}) {
      auto table = Table::Create(options);
      ASSERT_TRUE(table.ok()) << table.status();
      tables.push_back(*table);
    }
    auto core = ServerCore::Create(std::move(tables), limits);
    ASSERT_TRUE(core.ok()) << core.status();
    core_ = *core;
    listener_ = std::make_shared<TestListener>();
    session_ = core_->OpenInsertSession(listener_);
  }

  int64_t SizeOf(const std::string& table) {
    return (*core_->FindTable(table))->size();
  }

  // Submits `message`, which must fail and leave nothing behind.
  absl::Status Refused(InsertMessage message) {
    const absl::Status status = session_->Submit(std::move(message));
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(session_->status(), status);
    EXPECT_EQ(session_->num_pending(), 0);
    EXPECT_TRUE(session_->TakeDone().empty());
    EXPECT_FALSE(session_->ReadyForMore());
    for (const auto& table : core_->tables()) EXPECT_EQ(table->size(), 0);
    return status;
  }

  // What `slice` of a chunk with three rows is answered with.
  absl::Status TrySlice(SliceMessage slice) {
    session_ = core_->OpenInsertSession(listener_);
    InsertMessage message;
    message.chunks.push_back(FakeChunk(slice.chunk_key, 3));
    message.items.push_back(ItemOf(1, "uniform", slice));
    return Refused(std::move(message));
  }

  std::shared_ptr<ServerCore> core_;
  std::shared_ptr<TestListener> listener_;
  std::shared_ptr<InsertSession> session_;
};

TEST_F(InsertSessionTest, ConfirmsWhatTheTablesInserted) {
  InsertMessage message = OneItem(7, "uniform");
  message.items.push_back(ItemOf(8, "prioritized", Rows(7, 0, 1)));
  ASSERT_TRUE(session_->Submit(std::move(message)).ok());
  ASSERT_TRUE(
      listener_->WaitUntil([&] { return session_->num_pending() == 0; }));
  const InsertDone done = session_->TakeDone();
  EXPECT_THAT(done.confirmed, ElementsAre(7, 8));
  EXPECT_THAT(done.refused, IsEmpty());
  EXPECT_TRUE(session_->TakeDone().empty());
  EXPECT_EQ(SizeOf("uniform"), 1);
  EXPECT_EQ(SizeOf("prioritized"), 1);
}

TEST_F(InsertSessionTest, AMessageWithoutChunksAndItemsIsRefused) {
  InsertMessage message;
  message.keep_chunk_keys = {5};
  EXPECT_TRUE(absl::IsInvalidArgument(Refused(std::move(message))));
}

TEST_F(InsertSessionTest, AnUnknownChunkIsInternal) {
  InsertMessage message;
  message.items.push_back(ItemOf(1, "missing", Rows(77, 0, 1)));
  const absl::Status status = Refused(std::move(message));
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("77"));
}

TEST_F(InsertSessionTest, AnUnknownTableIsNotFound) {
  const absl::Status status = Refused(OneItem(1, "missing"));
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("Priority table missing was not found"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("'queue'"));
  ASSERT_TRUE(GetErrorInfo(status).has_value());
  EXPECT_EQ(GetErrorInfo(status)->table, "missing");
}

TEST_F(InsertSessionTest, AnItemWithoutDataIsRefused) {
  InsertMessage message = OneItem(1, "uniform");
  message.items[0].slices.clear();
  EXPECT_TRUE(absl::IsInvalidArgument(Refused(std::move(message))));
}

TEST_F(InsertSessionTest, AnEmptyColumnIsRefused) {
  InsertMessage message = OneItem(1, "uniform");
  message.items[0].has_empty_column = true;
  EXPECT_TRUE(absl::IsInvalidArgument(Refused(std::move(message))));
}

TEST_F(InsertSessionTest, SlicesOutsideTheirTensorAreRefused) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  for (const auto& [offset, length] :
       std::vector<std::pair<int32_t, int32_t>>{{0, 4},
                                                {3, 1},
                                                {-1, 2},
                                                {0, 0},
                                                {0, -1},
                                                {2, 2},
                                                {kMax, kMax},
                                                {kMin, kMax},
                                                {1, kMax},
                                                {kMin, kMin}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(TrySlice(Rows(9, offset, length))))
        << offset << " " << length;
  }
}

TEST_F(InsertSessionTest, ATensorIndexOutOfRangeIsRefused) {
  for (const int32_t index : {1, -1, std::numeric_limits<int32_t>::max()}) {
    SliceMessage slice = Rows(9, 0, 1);
    slice.index = index;
    const absl::Status status = TrySlice(slice);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(GetErrorInfo(status)->column, "0");
  }
}

TEST_F(InsertSessionTest, ASqueezedColumnHasOneRow) {
  SliceMessage slice = Rows(9, 0, 2);
  slice.squeeze = true;
  EXPECT_TRUE(absl::IsInvalidArgument(TrySlice(slice)));
}

TEST_F(InsertSessionTest, APriorityNoSelectorCanHoldIsRefusedByName) {
  for (const double priority :
       {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    session_ = core_->OpenInsertSession(listener_);
    InsertMessage message = OneItem(1, "prioritized");
    message.items.push_back(ItemOf(2, "prioritized", Rows(1, 0, 1), priority));
    const absl::Status status = Refused(std::move(message));
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("prioritized"));
    EXPECT_EQ(GetErrorInfo(status)->table, "prioritized");
  }
  // The table goes on.
  session_ = core_->OpenInsertSession(listener_);
  EXPECT_TRUE(session_->Submit(OneItem(3, "prioritized")).ok());
  EXPECT_TRUE(
      listener_->WaitUntil([&] { return session_->num_pending() == 0; }));
}

TEST_F(InsertSessionTest, AKeepListThatNamesAnUnknownChunkQueuesNothing) {
  InsertMessage message = OneItem(1, "uniform");
  message.keep_chunk_keys = {1, 2};
  EXPECT_TRUE(absl::IsFailedPrecondition(Refused(std::move(message))));
}

TEST_F(InsertSessionTest, AKeepListThatRepeatsAKeyQueuesNothing) {
  InsertMessage message = OneItem(1, "uniform");
  message.keep_chunk_keys = {1, 1};
  EXPECT_TRUE(absl::IsFailedPrecondition(Refused(std::move(message))));
}

TEST_F(InsertSessionTest, TheFirstVersionOfAChunkWins) {
  InsertMessage first;
  first.chunks.push_back(FakeChunk(1, 3));
  first.keep_chunk_keys = {99};  // means nothing without items
  ASSERT_TRUE(session_->Submit(std::move(first)).ok());
  InsertMessage second;
  second.chunks.push_back(FakeChunk(1, 1));
  second.items.push_back(ItemOf(1, "uniform", Rows(1, 0, 3)));
  EXPECT_TRUE(session_->Submit(std::move(second)).ok());
}

TEST_F(InsertSessionTest, ChunksThatAreNotKeptAreForgotten) {
  InsertMessage message = OneItem(1, "uniform");
  message.chunks.push_back(FakeChunk(2, 1));
  message.keep_chunk_keys = {2};
  ASSERT_TRUE(session_->Submit(std::move(message)).ok());
  InsertMessage kept;
  kept.items.push_back(ItemOf(2, "uniform", Rows(2, 0, 1)));
  kept.keep_chunk_keys = {2};
  ASSERT_TRUE(session_->Submit(std::move(kept)).ok());
  InsertMessage forgotten;
  forgotten.items.push_back(ItemOf(3, "uniform", Rows(1, 0, 1)));
  EXPECT_TRUE(absl::IsInternal(session_->Submit(std::move(forgotten))));
}

TEST_F(InsertSessionTest, SessionsShareNoChunks) {
  ASSERT_TRUE(session_->Submit(OneItem(1, "uniform")).ok());
  const auto other = core_->OpenInsertSession(listener_);
  InsertMessage message;
  message.items.push_back(ItemOf(2, "uniform", Rows(1, 0, 1)));
  EXPECT_TRUE(absl::IsInternal(other->Submit(std::move(message))));
}

TEST_F(InsertSessionTest, ChunksThatNoItemRefersToAreLimited) {
  Limits limits;
  limits.max_unreferenced_bytes = 1000;
  Start(limits);
  absl::Status status;
  int sent = 0;
  for (; status.ok() && sent < 100; ++sent) {
    InsertMessage message;
    message.chunks.push_back(FakeChunk(sent, 1, 300));
    status = session_->Submit(std::move(message));
  }
  EXPECT_EQ(sent, 4);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  ASSERT_TRUE(GetErrorInfo(status).has_value());
  EXPECT_EQ(GetErrorInfo(status)->limit, "1000");
  EXPECT_EQ(GetErrorInfo(status)->actual, "1200");
}

TEST_F(InsertSessionTest, ChunksThatItemsReferToAreNotLimited) {
  Limits limits;
  limits.max_unreferenced_bytes = 1000;
  Start(limits);
  InsertMessage message;
  for (ChunkKey key = 0; key < 100; ++key) {
    message.chunks.push_back(FakeChunk(key, 1, 300));
    message.items.push_back(ItemOf(key, "uniform", Rows(key, 0, 1)));
    message.keep_chunk_keys.push_back(key);
  }
  EXPECT_TRUE(session_->Submit(std::move(message)).ok());
}

TEST_F(InsertSessionTest, StopsReadingWhileTheTableHasTooManyWaiting) {
  ASSERT_TRUE(session_->Submit(OneItem(1, "queue")).ok());
  EXPECT_TRUE(session_->ReadyForMore());
  for (ItemKey key = 2; key <= 5; ++key) {
    ASSERT_TRUE(session_->Submit(OneItem(key, "queue")).ok());
  }
  EXPECT_EQ(session_->num_pending(), 3);
  EXPECT_FALSE(session_->ReadyForMore());

  const auto reader_listener = std::make_shared<TestListener>();
  const auto reader = core_->OpenSampleSession(reader_listener);
  SampleMessage request;
  request.table = "queue";
  request.num_samples = 5;
  ASSERT_TRUE(reader->Request(request).ok());
  EXPECT_TRUE(listener_->WaitUntil([&] {
    reader->Take();
    return session_->num_pending() == 0;
  }));
  EXPECT_TRUE(session_->ReadyForMore());
  EXPECT_THAT(session_->TakeDone().confirmed, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(InsertSessionTest, AWaitOfZeroRefusesWhatCannotGoAtOnce) {
  for (ItemKey key = 1; key <= 3; ++key) {
    InsertMessage message = OneItem(key, "queue");
    message.wait_ms = 0;
    ASSERT_TRUE(session_->Submit(std::move(message)).ok());
  }
  ASSERT_TRUE(
      listener_->WaitUntil([&] { return session_->num_pending() == 0; }));
  const InsertDone done = session_->TakeDone();
  EXPECT_THAT(done.confirmed, ElementsAre(1, 2));
  EXPECT_THAT(done.refused, ElementsAre(3));
  EXPECT_TRUE(session_->status().ok());
}

TEST_F(InsertSessionTest, AWaitThatEndsRefuses) {
  for (ItemKey key = 1; key <= 3; ++key) {
    InsertMessage message = OneItem(key, "queue");
    message.wait_ms = 20;
    ASSERT_TRUE(session_->Submit(std::move(message)).ok());
  }
  ASSERT_TRUE(
      listener_->WaitUntil([&] { return session_->num_pending() == 0; }));
  EXPECT_THAT(session_->TakeDone().refused, ElementsAre(3));
}

TEST_F(InsertSessionTest, CloseLeavesQueuedInsertsOrWithdrawsThem) {
  for (const bool withdraw : {false, true}) {
    Start({});
    for (ItemKey key = 1; key <= 4; ++key) {
      ASSERT_TRUE(session_->Submit(OneItem(key, "queue")).ok());
    }
    session_->Close(withdraw);
    session_->Close(withdraw);
    const auto table = *core_->FindTable("queue");
    EXPECT_EQ(table->GetInfo().waiting_inserts > 0, !withdraw);
    EXPECT_TRUE(absl::IsCancelled(session_->Submit(OneItem(9, "queue"))));
  }
}

TEST_F(InsertSessionTest, AClosingServerConfirmsOnlyWhatItInserted) {
  for (ItemKey key = 1; key <= 4; ++key) {
    ASSERT_TRUE(session_->Submit(OneItem(key, "queue")).ok());
  }
  core_->Close();
  ASSERT_TRUE(
      listener_->WaitUntil([&] { return session_->num_pending() == 0; }));
  EXPECT_TRUE(absl::IsUnavailable(session_->status()));
  EXPECT_THAT(session_->TakeDone().confirmed, ElementsAre(1, 2));
  EXPECT_TRUE(absl::IsUnavailable(session_->Submit(OneItem(9, "uniform"))));
  const auto late = core_->OpenInsertSession(listener_);
  EXPECT_TRUE(absl::IsUnavailable(late->status()));
}

TEST_F(InsertSessionTest, LocalItemsNeedNoChunkMessages) {
  std::vector<InsertSession::LocalItem> items;
  for (ItemKey key = 1; key <= 2; ++key) {
    Trajectory trajectory;
    trajectory.Add({.chunk = FakeChunk(key, 1), .offset = 0, .length = 1});
    items.push_back({.table = "uniform",
                     .priority = 1,
                     .item = MakeRef<Item>(key, std::move(trajectory))});
  }
  ASSERT_TRUE(session_->SubmitLocal(std::move(items), kNoDeadline, false).ok());
  ASSERT_TRUE(
      listener_->WaitUntil([&] { return session_->num_pending() == 0; }));
  EXPECT_THAT(session_->TakeDone().confirmed, ElementsAre(1, 2));
}

TEST_F(InsertSessionTest, ReportsToNobodyAfterItsListenerDied) {
  for (ItemKey key = 1; key <= 3; ++key) {
    ASSERT_TRUE(session_->Submit(OneItem(key, "queue")).ok());
  }
  listener_.reset();
  session_->Close(/*withdraw=*/false);
  session_.reset();
  EXPECT_TRUE(core_->Reset("queue").ok());
  EXPECT_EQ(SizeOf("queue"), 1);
}

class NumberedInsertsTest : public InsertSessionTest {
 protected:
  static constexpr char kId[] = "0123456789abcdef0123456789abcdef";

  void SetUp() override {
    Start({});
    session_ = Join(listener_);
  }
  // As a transport does when its stream is over.
  void TearDown() override {
    for (const auto& session : joined_) session->Close(false);
  }
  std::shared_ptr<InsertSession> Join(
      const std::shared_ptr<TestListener>& listener,
      const std::string& id = kId) {
    joined_.push_back(core_->OpenInsertSession(listener, id));
    return joined_.back();
  }
  // Items of `table` with these numbers, which are their keys too.
  static InsertMessage Items(const std::string& table,
                             std::vector<uint64_t> numbers) {
    InsertMessage message;
    message.chunks.push_back(FakeChunk(1, 3));
    for (const uint64_t number : numbers) {
      message.items.push_back(ItemOf(number, table, Rows(1, 0, 1)));
    }
    message.item_seqs = std::move(numbers);
    message.keep_chunk_keys = {1};
    return message;
  }
  static std::vector<ItemKey> Confirmed(InsertSession& session,
                                        TestListener& listener) {
    EXPECT_TRUE(listener.WaitUntil([&] { return session.num_pending() == 0; }));
    return session.TakeDone().confirmed;
  }

  std::vector<std::shared_ptr<InsertSession>> joined_;
};

TEST_F(NumberedInsertsTest, WhatWasInsertedIsConfirmedAgainAndNotInserted) {
  ASSERT_TRUE(session_->Submit(Items("queue", {1, 2})).ok());
  EXPECT_THAT(Confirmed(*session_, *listener_), ElementsAre(1, 2));
  session_->Close(false);
  // Its items may have been taken meanwhile.
  ASSERT_TRUE(core_->Reset("queue").ok());
  session_ = Join(listener_);
  ASSERT_TRUE(session_->ReadyForMore());
  ASSERT_TRUE(session_->Submit(Items("queue", {1, 2, 3})).ok());
  EXPECT_THAT(Confirmed(*session_, *listener_),
              testing::UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(SizeOf("queue"), 1);
}

TEST_F(NumberedInsertsTest, WhatWaitedIsWithdrawnAndSentAgain) {
  ASSERT_TRUE(session_->Submit(Items("queue", {1, 2, 3, 4})).ok());
  ASSERT_TRUE(listener_->WaitUntil([&] { return SizeOf("queue") == 2; }));
  session_->Close(false);
  EXPECT_EQ(session_->num_pending(), 0);
  ASSERT_TRUE(core_->Reset("queue").ok());
  EXPECT_EQ(SizeOf("queue"), 0);
  session_ = Join(listener_);
  ASSERT_TRUE(session_->Submit(Items("queue", {1, 2, 3, 4})).ok());
  EXPECT_THAT(Confirmed(*session_, *listener_),
              testing::UnorderedElementsAre(1, 2, 3, 4));
  EXPECT_EQ(SizeOf("queue"), 2);
}

TEST_F(NumberedInsertsTest, ANewStreamEndsTheOldOne) {
  ASSERT_TRUE(session_->Submit(Items("queue", {1, 2, 3})).ok());
  ASSERT_TRUE(listener_->WaitUntil([&] { return SizeOf("queue") == 2; }));
  const auto other_listener = std::make_shared<TestListener>();
  const auto other = Join(other_listener);
  EXPECT_TRUE(absl::IsAborted(session_->status()));
  EXPECT_TRUE(
      listener_->WaitUntil([&] { return session_->num_pending() == 0; }));
  EXPECT_TRUE(other_listener->WaitUntil([&] { return other->ReadyForMore(); }));
  EXPECT_TRUE(absl::IsAborted(session_->Submit(Items("uniform", {9}))));
  session_->Close(false);
  EXPECT_EQ(SizeOf("uniform"), 0);
  ASSERT_TRUE(core_->Reset("queue").ok());
  ASSERT_TRUE(other->Submit(Items("queue", {1, 2, 3})).ok());
  EXPECT_THAT(Confirmed(*other, *other_listener),
              testing::UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(SizeOf("queue"), 1);
}

TEST_F(NumberedInsertsTest, OtherSessionsAreNotConcerned) {
  const auto plain = core_->OpenInsertSession(listener_);
  const auto other = Join(listener_, std::string(32, 'f'));
  ASSERT_TRUE(session_->Submit(Items("uniform", {1})).ok());
  EXPECT_THAT(Confirmed(*session_, *listener_), ElementsAre(1));
  ASSERT_TRUE(core_->Reset("uniform").ok());
  ASSERT_TRUE(other->Submit(Items("uniform", {1})).ok());
  EXPECT_THAT(Confirmed(*other, *listener_), ElementsAre(1));
  EXPECT_EQ(SizeOf("uniform"), 1);
  ASSERT_TRUE(core_->Reset("uniform").ok());
  // Without a session numbers mean nothing.
  ASSERT_TRUE(plain->Submit(Items("uniform", {1})).ok());
  EXPECT_THAT(Confirmed(*plain, *listener_), ElementsAre(1));
  EXPECT_EQ(SizeOf("uniform"), 1);
}

TEST_F(NumberedInsertsTest, NumbersMustBeThereAndIncrease) {
  InsertMessage message = Items("uniform", {1, 2});
  message.item_seqs.pop_back();
  EXPECT_TRUE(absl::IsInvalidArgument(Refused(std::move(message))));
  session_ = Join(listener_);
  EXPECT_TRUE(absl::IsInvalidArgument(Refused(Items("uniform", {2, 2}))));
  session_ = Join(listener_);
  ASSERT_TRUE(session_->Submit(Items("uniform", {5})).ok());
  EXPECT_THAT(Confirmed(*session_, *listener_), ElementsAre(5));
  EXPECT_TRUE(absl::IsInvalidArgument(session_->Submit(Items("uniform", {5}))));
  session_ = Join(listener_);
  ASSERT_TRUE(
      session_->Submit(Items("uniform", {5 + SeenNumbers::kReach})).ok());
  EXPECT_THAT(Confirmed(*session_, *listener_),
              ElementsAre(5 + SeenNumbers::kReach));
  session_->Close(false);
  session_ = Join(listener_);
  const absl::Status status = session_->Submit(Items("uniform", {5}));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("behind"));
}

}  // namespace
}  // namespace reverb
