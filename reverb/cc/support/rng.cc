// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/rng.h"

#include <pthread.h>

#include <bit>
#include <cstdint>
#include <random>

#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

uint64_t SplitMix(uint64_t& x) {
  x += 0x9e3779b97f4a7c15;
  uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

struct KeySource {
  Mutex mu;
  Rng rng ABSL_GUARDED_BY(mu) = Rng::FromEntropy();
};

KeySource& Keys();

// The lock is held across a fork: in the child no other thread would let go.
void LockKeys() ABSL_NO_THREAD_SAFETY_ANALYSIS { Keys().mu.Lock(); }
void UnlockKeys() ABSL_NO_THREAD_SAFETY_ANALYSIS { Keys().mu.Unlock(); }
void ReseedAndUnlockKeys() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Keys().rng = Rng::FromEntropy();
  Keys().mu.Unlock();
}

KeySource& Keys() {
  static KeySource* const keys = [] {
    auto* const source = new KeySource;
    ::pthread_atfork(LockKeys, UnlockKeys, ReseedAndUnlockKeys);
    return source;
  }();
  return *keys;
}

}  // namespace

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

Rng Rng::FromEntropy() {
  std::random_device device;
  Rng rng((uint64_t{device()} << 32) | device());
  for (uint64_t& word : rng.state_) {
    word ^= (uint64_t{device()} << 32) | device();
  }
  rng.state_[0] |= 1;  // The all-zero state is the one that never leaves.
  return rng;
}

uint64_t Rng::Next() {
  const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t RandomKey() {
  KeySource& keys = Keys();
  MutexLock lock(keys.mu);
  uint64_t key;
  do {
    key = keys.rng.Next();
  } while (key == ~uint64_t{0});  // Never drawn by 0.14 either.
  return key;
}

}  // namespace reverb
