// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Decides whether the next insert or sample keeps a table near its target
// samples-per-insert ratio (SPI).
//
// State is three counters since the last reset: inserts I, samples S, deletes
// D. With spi, min_size, min_diff, max_diff:
//   CanSample(n) := I - D >= min_size  and  I * spi - S - n >= min_diff
//   CanInsert(n) := I + n - D <= min_size  or  (I + n) * spi - S <= max_diff
//
// Units: counts are items, never steps or bytes.
// Threads: thread-compatible; holds no lock. `Table` guards its instance.
// Source: Cassirer et al. 2021, "Reverb: A Framework for Experience Replay".

#ifndef REVERB_CC_TABLE_RATE_LIMITER_H_
#define REVERB_CC_TABLE_RATE_LIMITER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace reverb {

class RateLimiter {
 public:
  struct Options {
    double samples_per_insert = 1.0;  // > 0, finite
    int64_t min_size_to_sample = 1;   // items; >= 1
    double min_diff = 0;              // not NaN; min_diff <= max_diff
    double max_diff = 0;              // not NaN
    // "RateLimiter(samples_per_insert=..., min_diff_=..., max_diff=...,
    // min_size_to_sample=...)", as 0.14 prints it.
    std::string ToString() const;
  };
  struct Counters {
    int64_t inserts = 0;
    int64_t samples = 0;
    int64_t deletes = 0;
  };

  // InvalidArgument if an option is out of the range noted beside it.
  static absl::StatusOr<RateLimiter> Create(const Options& options);

  // n >= 1.
  bool CanSample(int64_t n) const;
  bool CanInsert(int64_t n) const;
  // How many single samples in a row, at most `wanted`, CanSample(1) would
  // allow: counted as if each had been made, so that rounding can't make a
  // batch differ from its parts. O(log wanted).
  int64_t SamplesAllowed(int64_t wanted) const;

  void DidInsert() { ++counters_.inserts; }
  void DidSample(int64_t n = 1) { counters_.samples += n; }
  void DidDelete() { ++counters_.deletes; }
  void Reset() { counters_ = Counters(); }

  const Options& options() const { return options_; }
  const Counters& counters() const { return counters_; }

 private:
  explicit RateLimiter(const Options& options) : options_(options) {}

  bool HasEnoughToSample() const {
    return counters_.inserts - counters_.deletes >= options_.min_size_to_sample;
  }
  // The part of CanSample(n) about min_diff if `earlier` samples more had been
  // made.
  bool KeepsMinDiff(int64_t earlier, int64_t n) const {
    return static_cast<double>(counters_.inserts) *
                   options_.samples_per_insert -
               static_cast<double>(counters_.samples + earlier) -
               static_cast<double>(n) >=
           options_.min_diff;
  }

  Options options_;
  Counters counters_;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_RATE_LIMITER_H_
