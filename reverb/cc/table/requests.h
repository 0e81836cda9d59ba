// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What is asked of a table, and who is told how it went.

#ifndef REVERB_CC_TABLE_REQUESTS_H_
#define REVERB_CC_TABLE_REQUESTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/data/item.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/ref.h"

namespace reverb {

// The text by which old clients recognise a rate limiter's timeout.
inline constexpr absl::string_view kRateLimiterTimeoutText =
    "Rate Limiter: Timeout exceeded before the right to insert was acquired.";

struct InsertRequest {
  Ref<Item> item;
  double priority = 0;
  uint64_t tag = 0;  // comes back with the result
};

struct InsertResult {
  ItemKey key = 0;
  uint64_t tag = 0;
  // OK: inserted, or its key was there and took the new priority.
  // DeadlineExceeded: withdrawn. Cancelled: the table was closed.
  // InvalidArgument: a selector can't hold the priority.
  absl::Status status{};
};

// Receives what became of a stream's inserts. Must be quick and must not call
// the table: it puts the results aside for its session.
//
// Threads: two threads may be in `OnInserts` of one sink at once, each with
// results of its own, when both serve the table.
class InsertSink {
 public:
  virtual ~InsertSink() = default;
  virtual void OnInserts(absl::Span<const InsertResult> results) = 0;
};

struct SampleRequest {
  int64_t num_samples = 1;             // >= 1
  SteadyTime deadline = kNoDeadline;   // to wait in the table
  bool try_once = false;               // fail at once instead of waiting
  size_t max_bytes = size_t{1} << 20;  // of chunks; ends a batch early
};

// Receives the answer to one sample request, exactly once unless withdrawn:
// at least one sample, or an error (DeadlineExceeded with
// `kRateLimiterTimeoutText`; Cancelled when the table was closed). Quick, and
// without a call of the table, as `InsertSink`.
//
// Threads: the answers to two requests of one sink may come at once.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual void OnSamples(std::vector<Sample> samples, absl::Status status) = 0;
};

struct PriorityUpdate {
  ItemKey key = 0;
  double priority = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_TABLE_REQUESTS_H_
