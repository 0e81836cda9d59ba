// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Sessions recorded between a dm-reverb 0.14 client and server, sent again to
// a server of ours: as many confirmations and samples, the same keys, the same
// status codes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "tests/cc/service/service_fixture.h"

namespace reverb {
namespace {

struct Recorded {
  std::string method;  // "InsertStream"
  int call = 0;
  bool is_request = false;
  std::string bytes;
};

// The messages of a session, in the order they were seen.
std::vector<Recorded> ReadSession(const std::string& name) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(
           absl::StrCat("tests/vectors/grpc/", name))) {
    if (file.path().extension() == ".bin") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Recorded> messages;
  for (const auto& file : files) {
    // "006_SampleStream_call02_req"
    const std::vector<std::string> parts =
        absl::StrSplit(file.stem().string(), '_');
    std::ifstream in(file, std::ios::binary);
    messages.push_back(
        {.method = parts.at(1),
         .call = std::stoi(parts.at(2).substr(4)),
         .is_request = parts.at(3) == "req",
         .bytes = std::string(std::istreambuf_iterator<char>(in), {})});
  }
  return messages;
}

// Keys confirmed, or of items sampled.
std::vector<ItemKey> KeysIn(const Recorded& response) {
  std::vector<ItemKey> keys;
  if (response.method == "InsertStream") {
    const auto done = wire::ParseInsertResponse(response.bytes);
    EXPECT_TRUE(done.ok()) << done.status();
    if (done.ok()) keys = done->confirmed;
  } else if (response.method == "SampleStream") {
    const auto entries = wire::ParseSampleResponse(response.bytes);
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (!entries.ok()) return keys;
    for (const wire::SampleEntry& entry : *entries) {
      if (entry.info) keys.push_back(entry.info->item.key);
    }
  }
  return keys;
}

class ReplayTest : public ServiceTest {
 protected:
  // The tables that the recorded server had.
  void SetUp() override {
    Table::Options uniform = TableOptions()[0];
    uniform.max_size = 100;
    Table::Options queue = TableOptions()[2];
    Table::Options prioritized = TableOptions()[1];
    prioritized.remover.kind = SelectorOptions::Kind::kMinHeap;
    prioritized.max_size = 100;
    prioritized.max_times_sampled = 3;
    prioritized.rate_limiter.samples_per_insert = 2;
    prioritized.rate_limiter.min_size_to_sample = 2;
    prioritized.rate_limiter.min_diff = -6;
    prioritized.rate_limiter.max_diff = 14;
    Table::Options blocked = uniform;
    blocked.name = "blocked";
    blocked.sampler.kind = SelectorOptions::Kind::kFifo;
    blocked.rate_limiter.min_diff = 0;
    blocked.rate_limiter.max_diff = 2;
    std::vector<std::shared_ptr<Table>> tables;
    for (const auto& options : {uniform, queue, prioritized, blocked}) {
      tables.push_back(*Table::Create(options));
    }
    core_ = *ServerCore::Create(std::move(tables));
    server_ = *Server::Start(core_, {});
    channel_ = TestChannel(server_->port());
  }

  struct Replayed {
    std::unique_ptr<TestCall> call;
    std::string method;
    std::multiset<ItemKey> recorded;
    std::multiset<ItemKey> got;
    int num_responses = 0;
  };

  // Reads until the call has brought as much as was recorded up to here.
  static void CatchUp(Replayed& replayed) {
    while (replayed.got.size() < replayed.recorded.size()) {
      auto message = replayed.call->Read();
      if (!message) return;
      ++replayed.num_responses;
      const auto keys = KeysIn({.method = replayed.method,
                                .call = 0,
                                .is_request = false,
                                .bytes = *std::move(message)});
      replayed.got.insert(keys.begin(), keys.end());
    }
  }

  // What a session without inserts of its own sampled was there before.
  void Preload(const std::vector<Recorded>& session) {
    std::string table;
    size_t count = 0;
    for (const Recorded& message : session) {
      if (message.method == "InsertStream") return;
      if (message.method != "SampleStream") continue;
      if (message.is_request) {
        table = wire::ParseSampleRequest(message.bytes)->table;
      } else {
        count += KeysIn(message).size();
      }
    }
    for (ItemKey key = 1; key <= count; ++key) Insert(table, {key});
  }

  std::map<int, Replayed> Replay(const std::string& name) {
    const std::vector<Recorded> session = ReadSession(name);
    EXPECT_FALSE(session.empty()) << name;
    Preload(session);
    std::map<int, Replayed> calls;
    for (const Recorded& message : session) {
      Replayed& replayed = calls[message.call];
      if (replayed.call == nullptr) {
        replayed.method = message.method;
        replayed.call =
            Call(absl::StrCat("/deepmind.reverb.ReverbService/", message.method)
                     .c_str());
      }
      if (message.is_request) {
        replayed.call->Write(message.bytes);
        continue;
      }
      for (const ItemKey key : KeysIn(message)) replayed.recorded.insert(key);
      CatchUp(replayed);
    }
    return calls;
  }
};

TEST_F(ReplayTest, InsertSessionsConfirmTheSameKeys) {
  for (const char* name :
       {"client_insert", "writer", "writer_repeated_chunk", "trajectory_writer",
        "structured_writer", "sample_batches", "insert_blocked"}) {
    SCOPED_TRACE(name);
    SetUp();
    for (auto& [number, replayed] : Replay(name)) {
      if (replayed.method != "InsertStream") continue;
      EXPECT_FALSE(replayed.recorded.empty());
      EXPECT_EQ(replayed.got, replayed.recorded) << number;
      // Its last insert waits for ever: that half-close would not return.
      if (absl::string_view(name) == "insert_blocked") continue;
      replayed.call->HalfClose();
      EXPECT_TRUE(replayed.call->Drain().ok());
    }
  }
}

TEST_F(ReplayTest, SampleSessionsDeliverAsMuch) {
  for (const char* name : {"sample_client", "sample_batches", "insert_blocked",
                           "sample_dataset"}) {
    SCOPED_TRACE(name);
    SetUp();
    const bool times_out = absl::string_view(name) == "sample_dataset";
    for (auto& [number, replayed] : Replay(name)) {
      if (replayed.method != "SampleStream") continue;
      EXPECT_FALSE(replayed.recorded.empty());
      EXPECT_EQ(replayed.got.size(), replayed.recorded.size());
      replayed.call->HalfClose();
      EXPECT_EQ(replayed.call->Drain().code(),
                times_out ? absl::StatusCode::kDeadlineExceeded
                          : absl::StatusCode::kOk);
    }
  }
}

TEST_F(ReplayTest, TheBlockedItemComesFirstOutOfItsTable) {
  auto calls = Replay("insert_blocked");
  EXPECT_EQ(calls[2].got, std::multiset<ItemKey>{200});
}

TEST_F(ReplayTest, ErrorsHaveTheRecordedCodes) {
  using Code = absl::StatusCode;
  constexpr Code kExpected[] = {Code::kInvalidArgument,
                                Code::kInvalidArgument,
                                Code::kInternal,
                                Code::kNotFound,
                                Code::kInvalidArgument,
                                Code::kInvalidArgument,
                                Code::kFailedPrecondition,
                                Code::kFailedPrecondition,
                                Code::kInternal,
                                Code::kInvalidArgument,
                                Code::kInvalidArgument,
                                Code::kNotFound,
                                Code::kDeadlineExceeded,
                                Code::kOk,
                                Code::kOk};
  auto calls = Replay("errors");
  ASSERT_EQ(calls.size(), std::size(kExpected));
  for (auto& [number, replayed] : calls) {
    EXPECT_EQ(replayed.call->Drain().code(), kExpected[number - 1]) << number;
  }
  ExpectAlive();
}

TEST_F(ReplayTest, UnaryCallsAreAnsweredAsRecorded) {
  using Code = absl::StatusCode;
  auto mutate = Replay("mutate_priorities");
  EXPECT_TRUE(mutate[1].call->Drain().ok());
  EXPECT_EQ(mutate[2].call->Drain().code(), Code::kNotFound);
  auto others = Replay("reset_info_checkpoint");
  EXPECT_TRUE(others[1].call->Drain().ok());
  EXPECT_TRUE(others[2].call->Drain().ok());
  EXPECT_EQ(others[3].call->Drain().code(), Code::kUnimplemented);
  EXPECT_EQ(others[4].call->Drain().code(), Code::kNotFound);
}

}  // namespace
}  // namespace reverb
