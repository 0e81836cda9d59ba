// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What makes a table the table it is; fixed for its life.

#ifndef REVERB_CC_TABLE_TABLE_OPTIONS_H_
#define REVERB_CC_TABLE_TABLE_OPTIONS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reverb/cc/selectors/selector.h"
#include "reverb/cc/table/extension.h"
#include "reverb/cc/table/rate_limiter.h"

namespace reverb {

struct TableOptions {
  std::string name;  // not empty
  SelectorOptions sampler;
  SelectorOptions remover;
  int64_t max_size = 0;           // items; >= 1, < 2^31
  int32_t max_times_sampled = 0;  // below 1: no limit
  RateLimiter::Options rate_limiter;
  std::string signature;  // a serialized StructuredValue; empty: none
  std::vector<std::shared_ptr<TableExtension>> extensions;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_TABLE_OPTIONS_H_
