// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/layouts.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace reverb::python {
namespace {

// More than that many at a time is a program that makes structures up.
constexpr size_t kMaxKnown = 16;

}  // namespace

Layout& Layouts::Flatten(pybind11::handle data,
                         std::vector<pybind11::object>& leaves) {
  leaves.clear();
  for (size_t i = 0; i < known_.size(); ++i) {
    if (!known_[i]->flattener.FlattenAgain(data, leaves)) continue;
    const auto begin = known_.begin();
    std::rotate(begin, begin + static_cast<std::ptrdiff_t>(i),
                begin + static_cast<std::ptrdiff_t>(i) + 1);
    return *known_[0];
  }
  auto layout = std::make_unique<Layout>();
  layout->flattener.Flatten(data, leaves);
  if (known_.size() == kMaxKnown) known_.pop_back();
  known_.insert(known_.begin(), std::move(layout));
  return *known_[0];
}

}  // namespace reverb::python
