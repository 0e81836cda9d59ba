// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Bounds on what one client may ask of a server.

#ifndef REVERB_CC_WIRE_LIMITS_H_
#define REVERB_CC_WIRE_LIMITS_H_

#include <cstdint>

namespace reverb {

struct Limits {
  int64_t max_message_bytes = (int64_t{1} << 31) - 1;
  int64_t max_items_per_message = 100'000;
  int64_t max_columns = 10'000;  // per item
  int64_t max_slices_per_item = 1'000'000;
  // Bytes of chunks that a stream has sent and no item refers to yet.
  int64_t max_unreferenced_bytes = int64_t{4} << 30;
};

}  // namespace reverb

#endif  // REVERB_CC_WIRE_LIMITS_H_
