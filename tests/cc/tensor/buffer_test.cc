// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/tensor/buffer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/mutex.h"
#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

Buffer Make(size_t size) {
  auto buffer = Buffer::Allocate(size);
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  return *std::move(buffer);
}

TEST(Buffer, EverySizeIsAlignedAndWritable) {
  std::vector<size_t> sizes = {1, 63, 64, 65, 255, 256, 257, 320, 321};
  for (int shift = 9; shift <= 27; ++shift) {
    const size_t power = size_t{1} << shift;
    for (const size_t size : {power - 1, power, power + 1, power + power / 4,
                              power + power / 4 + 1}) {
      sizes.push_back(size);
    }
  }
  for (const size_t size : sizes) {
    const Buffer buffer = Make(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(buffer.span().size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kBufferAlignment,
              0u);
    buffer.data()[0] = 1;
    buffer.data()[size - 1] = 2;
  }
}

TEST(Buffer, SizeZeroHoldsNothing) {
  const Buffer buffer = Make(0);
  EXPECT_EQ(buffer.size(), 0u);
}

TEST(Buffer, ImpossibleSizesAreAStatus) {
  for (const size_t size :
       {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, size_t{1} << 62}) {
    EXPECT_EQ(Buffer::Allocate(size).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
}

TEST(Buffer, MovesLeaveNothingBehind) {
  Buffer a = Make(100);
  char* const data = a.data();
  Buffer b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(a.size(), 0u);
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
}

TEST(Buffer, MemoryIsUsedAgain) {
  char* first;
  {
    const Buffer buffer = Make(100'000);
    first = buffer.data();
  }
  // Of the same class.
  const Buffer again = Make(99'000);
  EXPECT_EQ(again.data(), first);
  const Buffer other = Make(100'000);
  EXPECT_NE(other.data(), first);
}

TEST(Buffer, LiveOnesNeverOverlap) {
  Rng rng(1);
  std::vector<std::pair<Buffer, char>> live;
  for (int i = 0; i < 3000; ++i) {
    const char mark = static_cast<char>(rng.Next());
    live.emplace_back(Make(1 + rng.NextBelow(5000)), mark);
    std::memset(live.back().first.data(), mark, live.back().first.size());
    if (live.size() < 50) continue;
    const size_t victim = rng.NextBelow(live.size());
    std::swap(live[victim], live.back());
    const auto& [buffer, expected] = live.back();
    for (const char byte : buffer.span()) ASSERT_EQ(byte, expected);
    live.pop_back();
  }
}

TEST(Buffer, ThePoolMakesRoomForOtherSizes) {
  // More idle memory than the pool keeps, of ever larger sizes; untouched
  // pages cost nothing.
  for (size_t mib = 1; mib <= 64; mib += 3) {
    std::vector<Buffer> buffers;
    for (size_t total = 0; total < 160; total += mib) {
      buffers.push_back(Make(mib << 20));
    }
  }
  char* const first = Make(1000).data();
  EXPECT_EQ(Make(1000).data(), first);
}

TEST(Buffer, AnyThreadMayFree) {
  Mutex mu;
  std::vector<Buffer> shared;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Rng rng(t);
      for (int i = 0; i < 1000; ++i) {
        Buffer buffer = Make(1 + rng.NextBelow(2000));
        std::memset(buffer.data(), t, buffer.size());
        for (const char byte : buffer.span()) {
          if (byte != t) wrong.fetch_add(1);
        }
        MutexLock lock(mu);
        shared.push_back(std::move(buffer));
        if (shared.size() > 20) {
          std::swap(shared.front(), shared.back());
          shared.pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Buffer, ForkedChildMayFreeWhatItInherited) {
  std::atomic<bool> stop{false};
  std::thread busy([&stop] {
    while (!stop.load()) Make(1000);
  });
  for (int i = 0; i < 20; ++i) {
    Buffer inherited = Make(1000);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      {
        const Buffer freed = std::move(inherited);
      }
      _exit(Buffer::Allocate(1000).ok() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop.store(true);
  busy.join();
}

}  // namespace
}  // namespace reverb
