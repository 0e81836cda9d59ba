// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/chunk_length_tuner.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace reverb {
namespace {

// A round in which chunks of the tuner's length cost `bytes_per_cell`.
void Round(ChunkLengthTuner& tuner, double bytes_per_cell) {
  const int64_t cells = tuner.length();
  const auto bytes =
      static_cast<size_t>(bytes_per_cell * static_cast<double>(cells) * 100);
  for (int i = 0; i < 5; ++i) tuner.OnChunk(cells * 100, bytes);
  for (int i = 0; i < 10; ++i) tuner.OnItem(cells * 100, bytes);
}

TEST(ChunkLengthTuner, KeepsItsLengthUntilARoundIsOver) {
  ChunkLengthTuner tuner(100);
  EXPECT_EQ(tuner.length(), 1);
  for (int i = 0; i < 100; ++i) tuner.OnItem(1, 10);
  for (int i = 0; i < 4; ++i) tuner.OnChunk(1, 10);
  EXPECT_EQ(tuner.length(), 1);
  tuner.OnChunk(1, 10);
  EXPECT_EQ(tuner.length(), 3);
}

TEST(ChunkLengthTuner, GrowsWhileThatPaysAndTurnsBack) {
  ChunkLengthTuner tuner(100);
  for (const double cost : {10.0, 9.0, 8.0}) Round(tuner, cost);
  EXPECT_EQ(tuner.length(), 7);
  Round(tuner, 20.0);
  EXPECT_EQ(tuner.length(), 6);
  Round(tuner, 10.0);
  EXPECT_EQ(tuner.length(), 5);
}

TEST(ChunkLengthTuner, StaysInItsRange) {
  ChunkLengthTuner one(1);
  for (int i = 0; i < 10; ++i) {
    Round(one, 10.0);
    EXPECT_EQ(one.length(), 1);
  }
  ChunkLengthTuner four(4);
  double cost = 1000;
  for (int i = 0; i < 50; ++i) {
    Round(four, cost);
    cost *= 0.99;
    EXPECT_GE(four.length(), 1);
    EXPECT_LE(four.length(), 4);
  }
}

}  // namespace
}  // namespace reverb
