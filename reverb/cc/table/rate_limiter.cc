// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/rate_limiter.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace reverb {

std::string RateLimiter::Options::ToString() const {
  return absl::StrCat("RateLimiter(samples_per_insert=", samples_per_insert,
                      ", min_diff_=", min_diff, ", max_diff=", max_diff,
                      ", min_size_to_sample=", min_size_to_sample, ")");
}

absl::StatusOr<RateLimiter> RateLimiter::Create(const Options& options) {
  if (!(options.samples_per_insert > 0 &&
        std::isfinite(options.samples_per_insert))) {
    return absl::InvalidArgumentError(
        absl::StrCat("samples_per_insert must be a finite number above 0, not ",
                     options.samples_per_insert));
  }
  if (options.min_size_to_sample < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("min_size_to_sample must be at least 1, not ",
                     options.min_size_to_sample));
  }
  if (std::isnan(options.min_diff) || std::isnan(options.max_diff)) {
    return absl::InvalidArgumentError(
        absl::StrCat("min_diff and max_diff must be numbers, not ",
                     options.min_diff, " and ", options.max_diff));
  }
  if (options.min_diff > options.max_diff) {
    return absl::InvalidArgumentError(
        absl::StrCat("min_diff must not be above max_diff, but ",
                     options.min_diff, " is above ", options.max_diff));
  }
  return RateLimiter(options);
}

bool RateLimiter::CanSample(int64_t n) const {
  return HasEnoughToSample() && KeepsMinDiff(0, n);
}

bool RateLimiter::CanInsert(int64_t n) const {
  // Written so that no `n` overflows.
  const int64_t size = counters_.inserts - counters_.deletes;
  if (n <= options_.min_size_to_sample - size) return true;
  const double inserts =
      static_cast<double>(counters_.inserts) + static_cast<double>(n);
  return inserts * options_.samples_per_insert -
             static_cast<double>(counters_.samples) <=
         options_.max_diff;
}

int64_t RateLimiter::SamplesAllowed(int64_t wanted) const {
  if (wanted < 1 || !HasEnoughToSample()) return 0;
  // Rounding is monotone, so what one sample is refused all later ones are.
  const auto allows = [this](int64_t n) { return KeepsMinDiff(n - 1, 1); };
  if (allows(wanted)) return wanted;
  int64_t low = 0;        // allowed
  int64_t high = wanted;  // refused
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (allows(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace reverb
