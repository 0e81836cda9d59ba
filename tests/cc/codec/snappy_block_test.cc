// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/codec/snappy_block.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

using absl::StatusCode;

std::string Noise(Rng& rng, size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.Next());
  return bytes;
}

// Compressible at places.
std::string Mixed(Rng& rng, size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    if (rng.NextBelow(2) == 0) {
      bytes += Noise(rng, rng.NextBelow(300));
    } else {
      bytes.append(rng.NextBelow(500), static_cast<char>(rng.Next()));
    }
  }
  bytes.resize(size);
  return bytes;
}

void ExpectRoundTrip(const std::string& block, const std::string& raw) {
  const auto size = SnappyRawSize(block);
  ASSERT_TRUE(size.ok()) << size.status();
  ASSERT_EQ(*size, raw.size());
  std::string back(raw.size(), '?');
  const absl::Status status = SnappyUncompress(block, absl::MakeSpan(back));
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(back == raw);
}

TEST(SnappyBlock, EveryWayOfWritingRoundTrips) {
  Rng rng(1);
  for (const size_t size :
       {0, 1, 2, 59, 60, 61, 255, 256, 257, 258, 4096, 65535, 65536, 65537,
        65538, 200'000, (1 << 24) - 1, (1 << 24) + 1}) {
    for (const std::string& raw :
         {Noise(rng, size), Mixed(rng, size), std::string(size, '\0')}) {
      std::string block;
      SnappyCompress(raw, block);
      ExpectRoundTrip(block, raw);
      block.clear();
      SnappyStore(raw, block);
      ExpectRoundTrip(block, raw);
      block.clear();
      SnappyPack(raw, block);
      ExpectRoundTrip(block, raw);
    }
  }
}

TEST(SnappyBlock, ZeroBytesAreTheContentThatTheWireWants) {
  std::string block;
  SnappyStore("", block);
  EXPECT_EQ(block, std::string(1, '\0'));
  block.clear();
  SnappyPack("", block);
  EXPECT_EQ(block, std::string(1, '\0'));
}

TEST(SnappyBlock, Appends) {
  for (const auto write : {SnappyCompress, SnappyStore, SnappyPack}) {
    std::string out = "before";
    write("hello hello hello hello", out);
    ASSERT_EQ(out.substr(0, 6), "before");
    ExpectRoundTrip(out.substr(6), "hello hello hello hello");
  }
}

TEST(SnappyPack, StoresWhatDoesNotCompress) {
  Rng rng(2);
  for (const size_t size : {1000, 60'000, 300'000}) {
    const std::string noise = Noise(rng, size);
    std::string block;
    SnappyPack(noise, block);
    EXPECT_TRUE(SnappyLiteral(block) == absl::string_view(noise));
    block.clear();
    SnappyPack(std::string(size, 'x'), block);
    EXPECT_LT(block.size(), size / 10);
    EXPECT_FALSE(SnappyLiteral(block).has_value());
  }
}

TEST(SnappyPack, CompressesWhenAPartIsWorthIt) {
  Rng rng(3);
  const std::string raw = Noise(rng, 100'000) + std::string(500'000, 'x');
  std::string block;
  SnappyPack(raw, block);
  EXPECT_LT(block.size(), raw.size() / 2);
}

TEST(SnappyLiteral, IsOnlyWhatCoversTheWholeBlock) {
  std::string block;
  SnappyStore("abc", block);
  EXPECT_EQ(SnappyLiteral(block), "abc");
  EXPECT_FALSE(SnappyLiteral(block.substr(0, 4)).has_value());
  EXPECT_FALSE(SnappyLiteral(block + "x").has_value());
  EXPECT_FALSE(SnappyLiteral("").has_value());
  EXPECT_FALSE(SnappyLiteral(std::string(1, '\0')).has_value());
  // Two literals of one byte each.
  EXPECT_FALSE(SnappyLiteral(std::string("\x02\0a\0b", 5)).has_value());
  // A length of four bytes that isn't there.
  EXPECT_FALSE(SnappyLiteral("\x05\xfc\x01").has_value());
}

TEST(SnappyUncompress, AnotherSizeIsDataLoss) {
  std::string block;
  SnappyCompress("hello", block);
  for (const size_t size : {0, 4, 6}) {
    std::string out(size, '?');
    EXPECT_EQ(SnappyUncompress(block, absl::MakeSpan(out)).code(),
              StatusCode::kDataLoss);
    EXPECT_EQ(out, std::string(size, '?'));
  }
}

TEST(SnappyRawSize, BadPreamblesAreDataLoss) {
  for (const absl::string_view block :
       {absl::string_view(""), absl::string_view("\x80"),
        absl::string_view("\xff\xff\xff\xff\xff\x01"),
        absl::string_view("\xff\xff\xff\xff\x7f")}) {
    EXPECT_EQ(SnappyRawSize(block).status().code(), StatusCode::kDataLoss);
  }
}

TEST(SnappyRawSize, ABombIsDataLoss) {
  // 2^32 - 1 bytes, of eight.
  const std::string block = "\xff\xff\xff\xff\x0f" + std::string(8, '\0');
  EXPECT_EQ(SnappyRawSize(block).status().code(), StatusCode::kDataLoss);
}

TEST(SnappyRawSize, TheDensestBlocksAreNoBombs) {
  const std::string raw(10 << 20, 'x');
  std::string block;
  SnappyCompress(raw, block);
  EXPECT_TRUE(SnappyRawSize(block).ok());
}

TEST(SnappyUncompress, TrailingBytesAreDataLoss) {
  std::string block;
  SnappyStore("hello", block);
  std::string out(5, '?');
  EXPECT_FALSE(SnappyUncompress(block + "x", absl::MakeSpan(out)).ok());
}

TEST(SnappyUncompress, DamagedBlocksNeverWriteBeyondTheirSize) {
  Rng rng(4);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string raw = Mixed(rng, 1 + rng.NextBelow(600));
    std::string block;
    SnappyCompress(raw, block);
    if (rng.NextBelow(2) == 0) {
      block.resize(rng.NextBelow(block.size()));
    } else {
      for (int i = 0; i < 3; ++i) {
        block[rng.NextBelow(block.size())] ^=
            static_cast<char>(1 << rng.NextBelow(8));
      }
    }
    std::string out(raw.size() + 64, '#');
    if (!SnappyUncompress(block, absl::MakeSpan(out).subspan(0, raw.size()))
             .ok()) {
      ++refused;
    }
    ASSERT_EQ(out.substr(raw.size()), std::string(64, '#'));
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace reverb
