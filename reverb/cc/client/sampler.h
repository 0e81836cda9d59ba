// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Samples of one table, one after the other, fetched ahead and decoded.
//
// With one worker there is no thread: the caller's own thread reads the
// stream. More workers have one thread and stream each and fill a bounded
// queue.
//
// Threads: one thread calls `Next`; `Close` may be called from any other.

#ifndef REVERB_CC_CLIENT_SAMPLER_H_
#define REVERB_CC_CLIENT_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/wait.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

struct SampleData {
  uint64_t key = 0;
  double probability = 0;
  int64_t table_size = 0;
  double priority = 0;
  int32_t times_sampled = 0;
  bool rate_limited = false;
  std::vector<Tensor> columns = {};  // [T, ...] each, without T where squeezed
  // The StructuredValue that was stored with the item, as bytes nobody has
  // checked (wire/structure.h); empty if there is none.
  std::string structure = {};
};

class Sampler {
 public:
  struct Options {
    std::string table;
    int64_t max_samples = -1;  // -1: no end
    // Taken from the table and not yet returned by `Next`, per worker. None:
    // chosen as for `Client.sample` (64 where sampling removes nothing, else
    // one more than consumed), and never more than max_samples in all.
    std::optional<int64_t> max_in_flight = std::nullopt;
    int num_workers = 1;
    int64_t max_samples_per_stream = -1;  // -1: 10000
    // 0.14's: how long a request may wait in the table; -1: for ever.
    int64_t rate_limiter_timeout_ms = -1;
    // Seconds a `Next` may wait before it fails with DeadlineExceeded and the
    // sampler ends; none: for ever; 0: try once.
    std::optional<double> timeout = std::nullopt;
  };

  virtual ~Sampler() = default;

  // OutOfRange after max_samples, or when the rate limiter's timeout ended
  // the sequence. A sample that can't be decoded is an error of that call
  // alone; errors of the server are final.
  virtual absl::StatusOr<SampleData> Next(const WaitOptions& wait) = 0;

  // Ends a waiting `Next` (Cancelled) and the streams. Idempotent.
  virtual void Close() = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SAMPLER_H_
