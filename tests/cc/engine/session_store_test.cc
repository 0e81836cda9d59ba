// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/engine/session_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "reverb/cc/support/rng.h"
#include "tests/cc/testing/fake_clock.h"

namespace reverb {
namespace {

constexpr uint64_t kReach = SeenNumbers::kReach;

TEST(SeenNumbers, KnowsNothingAtFirst) {
  SeenNumbers seen;
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    EXPECT_FALSE(seen.Contains(number));
    EXPECT_FALSE(seen.IsForgotten(number));
  }
}

TEST(SeenNumbers, RemembersWhatIsInReach) {
  SeenNumbers seen;
  seen.Add(0);
  seen.Add(kReach - 1);
  EXPECT_TRUE(seen.Contains(0));
  EXPECT_FALSE(seen.Contains(1));
  EXPECT_FALSE(seen.IsForgotten(0));
  seen.Add(kReach);
  EXPECT_TRUE(seen.IsForgotten(0));
  EXPECT_FALSE(seen.Contains(0));
  seen.Add(0);  // too late
  EXPECT_FALSE(seen.Contains(0));
  EXPECT_TRUE(seen.Contains(kReach));
  EXPECT_TRUE(seen.Contains(kReach - 1));
}

TEST(SeenNumbers, AJumpForgetsEverything) {
  SeenNumbers seen;
  for (uint64_t i = 0; i < 100; ++i) seen.Add(i);
  seen.Add(10 * kReach + 50);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_FALSE(seen.Contains(10 * kReach + i) && i != 50) << i;
  }
}

TEST(SeenNumbers, AgreesWithASet) {
  Rng rng(1);
  SeenNumbers seen;
  std::set<uint64_t> all;
  uint64_t largest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t low = largest > kReach ? largest - kReach + 1 : 0;
    const uint64_t number =
        low + rng.NextBelow(largest - low + 1 + (i % 100 == 0 ? 2000 : 3));
    seen.Add(number);
    all.insert(number);
    largest = std::max(largest, number);
    const uint64_t asked = rng.NextBelow(largest + 10);
    EXPECT_EQ(seen.IsForgotten(asked), asked + kReach <= largest);
    if (!seen.IsForgotten(asked)) {
      ASSERT_EQ(seen.Contains(asked), all.contains(asked)) << asked;
    }
  }
}

TEST(SessionStore, GivesEveryStreamOfASessionTheSameLog) {
  FakeClock clock;
  SessionStore store(clock);
  const auto log = store.Open("a");
  EXPECT_EQ(store.Open("a"), log);
  EXPECT_NE(store.Open("b"), log);
  EXPECT_EQ(store.size(), 2U);
}

TEST(SessionStore, KeepsALogForAWhile) {
  FakeClock clock;
  SessionStore store(clock);
  store.Open("a")->Add(7);
  store.Open("a");
  store.Close("a");
  clock.Advance(10 * SessionStore::kKeepFor);
  store.Open("other");
  // One stream is still open.
  EXPECT_EQ(store.Open("a")->Find(7), InsertLog::State::kInserted);
  store.Close("a");
  store.Close("a");
  clock.Advance(SessionStore::kKeepFor - std::chrono::seconds(1));
  EXPECT_EQ(store.Open("a")->Find(7), InsertLog::State::kInserted);
  clock.Advance(std::chrono::seconds(2));
  store.Close("a");
  clock.Advance(SessionStore::kKeepFor - std::chrono::seconds(1));
  EXPECT_EQ(store.Open("a")->Find(7), InsertLog::State::kInserted);
  store.Close("a");
  clock.Advance(SessionStore::kKeepFor);
  EXPECT_EQ(store.Open("a")->Find(7), InsertLog::State::kNew);
}

TEST(SessionStore, IsBounded) {
  FakeClock clock;
  SessionStore store(clock);
  for (size_t i = 0; i < SessionStore::kKeepCount + 100; ++i) {
    store.Open(std::to_string(i));
    store.Close(std::to_string(i));
  }
  EXPECT_EQ(store.size(), SessionStore::kKeepCount);
}

}  // namespace
}  // namespace reverb
