// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/engine/server_core.h"
#include "tests/cc/engine/test_session.h"

namespace reverb {
namespace {

class SampleSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::shared_ptr<Table>> tables;
    for (const Table::Options& options :
         {UniformTable("uniform"), QueueTable("queue", 1000)}) {
      auto table = Table::Create(options);
      ASSERT_TRUE(table.ok()) << table.status();
      tables.push_back(*table);
    }
    auto core = ServerCore::Create(std::move(tables));
    ASSERT_TRUE(core.ok()) << core.status();
    core_ = *core;
    listener_ = std::make_shared<TestListener>();
    session_ = core_->OpenSampleSession(listener_);
  }

  void Insert(const std::string& table, int count) {
    const auto listener = std::make_shared<TestListener>();
    const auto writer = core_->OpenInsertSession(listener);
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(writer->Submit(OneItem(next_key_++, table)).ok());
    }
    ASSERT_TRUE(
        listener->WaitUntil([&] { return writer->num_pending() == 0; }));
    writer->Close(/*withdraw=*/false);
  }

  static SampleMessage RequestFor(std::string table, int64_t count) {
    SampleMessage message;
    message.table = std::move(table);
    message.num_samples = count;
    return message;
  }

  // Takes samples until the request is complete or the session over.
  std::vector<Sample> TakeAll() {
    std::vector<Sample> all;
    EXPECT_TRUE(listener_->WaitUntil([&] {
      while (true) {
        std::vector<Sample> some = session_->Take();
        if (some.empty()) break;
        for (Sample& sample : some) all.push_back(std::move(sample));
      }
      return session_->RequestIsComplete() || !session_->status().ok();
    }));
    return all;
  }

  Table::Info InfoOf(const std::string& table) {
    return (*core_->FindTable(table))->GetInfo();
  }

  ItemKey next_key_ = 1;
  std::shared_ptr<ServerCore> core_;
  std::shared_ptr<TestListener> listener_;
  std::shared_ptr<SampleSession> session_;
};

TEST_F(SampleSessionTest, DeliversWhatWasRequestedAndNoMore) {
  Insert("uniform", 3);
  EXPECT_TRUE(session_->RequestIsComplete());
  for (const int64_t count : {1, 1000, 63}) {
    ASSERT_TRUE(session_->Request(RequestFor("uniform", count)).ok());
    EXPECT_EQ(TakeAll().size(), static_cast<size_t>(count));
    EXPECT_TRUE(session_->RequestIsComplete());
  }
  EXPECT_EQ(InfoOf("uniform").counters.samples, 1064);
}

TEST_F(SampleSessionTest, AWaitingRequestIsServedByLaterInserts) {
  ASSERT_TRUE(session_->Request(RequestFor("queue", 5)).ok());
  EXPECT_TRUE(session_->Take().empty());
  EXPECT_FALSE(session_->RequestIsComplete());
  Insert("queue", 7);
  const std::vector<Sample> samples = TakeAll();
  ASSERT_EQ(samples.size(), 5u);
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].item->key(), i + 1);
  }
  EXPECT_EQ(InfoOf("queue").current_size, 2);
}

TEST_F(SampleSessionTest, NumbersOfSamplesOutOfRangeAreRefused) {
  for (const int64_t count :
       {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 32,
        (int64_t{1} << 32) + 5, std::numeric_limits<int64_t>::max(),
        std::numeric_limits<int64_t>::min()}) {
    const auto session = core_->OpenSampleSession(listener_);
    EXPECT_TRUE(
        absl::IsInvalidArgument(session->Request(RequestFor("uniform", count))))
        << count;
    EXPECT_FALSE(session->status().ok());
  }
}

TEST_F(SampleSessionTest, AnUnknownTableIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(session_->Request(RequestFor("missing", 1))));
}

TEST_F(SampleSessionTest, ARequestBeforeTheLastIsCompleteIsRefused) {
  ASSERT_TRUE(session_->Request(RequestFor("queue", 1)).ok());
  EXPECT_TRUE(
      absl::IsFailedPrecondition(session_->Request(RequestFor("queue", 1))));
  session_->Close();
}

TEST_F(SampleSessionTest, ATimeoutComesAfterTheSamplesThereWere) {
  Insert("queue", 7);
  SampleMessage request = RequestFor("queue", 10);
  request.timeout_ms = 20;
  ASSERT_TRUE(session_->Request(request).ok());
  EXPECT_EQ(TakeAll().size(), 7u);
  ASSERT_TRUE(listener_->WaitUntil([&] { return !session_->status().ok(); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(session_->status()));
  EXPECT_EQ(session_->status().message(), kRateLimiterTimeoutText);
}

TEST_F(SampleSessionTest, TryOnceDoesNotWait) {
  SampleMessage request = RequestFor("queue", 1);
  request.try_once = true;
  ASSERT_TRUE(session_->Request(request).ok());
  ASSERT_TRUE(listener_->WaitUntil([&] { return !session_->status().ok(); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(session_->status()));
}

TEST_F(SampleSessionTest, AClosedSessionEatsNothing) {
  for (int i = 0; i < 20; ++i) {
    const auto session = core_->OpenSampleSession(listener_);
    ASSERT_TRUE(session->Request(RequestFor("queue", 128)).ok());
    session->Close();
    session->Close();
  }
  Insert("queue", 200);
  EXPECT_EQ(InfoOf("queue").current_size, 200);
  EXPECT_EQ(InfoOf("queue").counters.samples, 0);
}

TEST_F(SampleSessionTest, WhatIsNotTakenBoundsWhatIsSampled) {
  Insert("uniform", 3);
  ASSERT_TRUE(session_->Request(RequestFor("uniform", 1'000'000)).ok());
  ASSERT_TRUE(listener_->WaitUntil([&] { return listener_->num_calls() > 0; }));
  EXPECT_LE(InfoOf("uniform").counters.samples, 128);
  session_->Take();
  EXPECT_LE(InfoOf("uniform").counters.samples, 128 + 256);
  session_->Close();
}

TEST_F(SampleSessionTest, AClosingServerEndsARequestThatWaits) {
  ASSERT_TRUE(session_->Request(RequestFor("queue", 1)).ok());
  core_->Close();
  ASSERT_TRUE(listener_->WaitUntil([&] { return !session_->status().ok(); }));
  EXPECT_TRUE(absl::IsUnavailable(session_->status()));
  const auto late = core_->OpenSampleSession(listener_);
  EXPECT_TRUE(absl::IsUnavailable(late->Request(RequestFor("queue", 1))));
}

TEST_F(SampleSessionTest, AClosingServerLeavesReadySamplesToBeTaken) {
  Insert("uniform", 1);
  ASSERT_TRUE(session_->Request(RequestFor("uniform", 10)).ok());
  core_->Close();
  EXPECT_TRUE(session_->status().ok());
  EXPECT_EQ(session_->Take().size(), 10u);
  EXPECT_TRUE(absl::IsUnavailable(session_->status()));
}

}  // namespace
}  // namespace reverb
