// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/ref.h"

#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace reverb {
namespace {

class Counted : public RefCounted<Counted> {
 public:
  explicit Counted(int* deaths) : deaths_(deaths) {}
  ~Counted() { ++*deaths_; }

 private:
  int* deaths_;
};

TEST(Ref, TheLastOneDeletes) {
  int deaths = 0;
  Ref<Counted> a = MakeRef<Counted>(&deaths);
  Ref<Counted> b = a;
  EXPECT_EQ(a, b);
  a = nullptr;
  EXPECT_FALSE(a);
  EXPECT_EQ(deaths, 0);
  b = Ref<Counted>();
  EXPECT_EQ(deaths, 1);
}

TEST(Ref, MovesWithoutCounting) {
  int deaths = 0;
  Ref<Counted> a = MakeRef<Counted>(&deaths);
  Ref<Counted> b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move)
  Ref<const Counted> c = std::move(b);
  EXPECT_FALSE(b);  // NOLINT(bugprone-use-after-move)
  Ref<const Counted>& same = c;
  c = std::move(same);
  EXPECT_EQ(deaths, 0);
  c = nullptr;
  EXPECT_EQ(deaths, 1);
}

TEST(Ref, SelfAssignmentKeepsTheObject) {
  int deaths = 0;
  Ref<Counted> a = MakeRef<Counted>(&deaths);
  a = *&a;
  EXPECT_TRUE(a);
  EXPECT_EQ(deaths, 0);
}

TEST(Ref, LeakAndAdoptKeepTheCount) {
  int deaths = 0;
  Counted* const bare = MakeRef<Counted>(&deaths).Leak();
  EXPECT_EQ(deaths, 0);
  { const Ref<Counted> again = Ref<Counted>::Adopt(bare); }
  EXPECT_EQ(deaths, 1);
}

TEST(Ref, CountingIsThreadSafe) {
  int deaths = 0;
  Ref<Counted> shared = MakeRef<Counted>(&deaths);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([shared] {
      for (int j = 0; j < 2000; ++j) const Ref<Counted> copy = shared;
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(deaths, 0);
  shared = nullptr;
  EXPECT_EQ(deaths, 1);
}

}  // namespace
}  // namespace reverb
