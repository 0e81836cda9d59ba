// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Whether counts fit the probabilities they should have.

#ifndef TESTS_CC_TESTING_CHI_SQUARE_H_
#define TESTS_CC_TESTING_CHI_SQUARE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reverb {

// Pearson's statistic; classes of probability 0 must have the count 0, else it
// is infinite.
inline double ChiSquare(const std::vector<int64_t>& counts,
                        const std::vector<double>& probabilities) {
  int64_t n = 0;
  for (const int64_t count : counts) n += count;
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(n);
    if (expected == 0) {
      if (counts[i] != 0) return HUGE_VAL;
      continue;
    }
    const double difference = static_cast<double>(counts[i]) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

// What the statistic of so many classes exceeds with probability 1e-6, by the
// approximation of Wilson and Hilferty.
inline double ChiSquareBound(size_t num_classes) {
  const double k = static_cast<double>(num_classes - 1);
  constexpr double kQuantile = 4.753;  // of the normal distribution
  const double root = 1 - 2 / (9 * k) + kQuantile * std::sqrt(2 / (9 * k));
  return k * root * root * root;
}

}  // namespace reverb

#endif  // TESTS_CC_TESTING_CHI_SQUARE_H_
