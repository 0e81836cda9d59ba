// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A small, fast random generator whose draws we define ourselves, so that a
// seed gives the same samples with every compiler and standard library.
//
// Threads: thread-compatible.
// Source: Blackman and Vigna, "xoshiro256++" (public domain); seeded through
// splitmix64.

#ifndef REVERB_CC_SUPPORT_RNG_H_
#define REVERB_CC_SUPPORT_RNG_H_

#include <cstdint>

namespace reverb {

class Rng {
 public:
  explicit Rng(uint64_t seed);
  // Seeded from the operating system.
  static Rng FromEntropy();

  uint64_t Next();
  // Uniform in [0, 1), 53 bits, exactly one `Next`.
  double NextDouble() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, n), exactly one `Next`; n >= 1. The bias is below n / 2^64.
  uint64_t NextBelow(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * n) >>
                                 64);
  }

 private:
  uint64_t state_[4];
};

// 64 random bits for keys and ids, thread-safe. A forked child draws others
// than its parent.
uint64_t RandomKey();

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_RNG_H_
