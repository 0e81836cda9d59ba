// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Samples put together to batches: arrays `[B, T, ...]`.
//
// Threads: one thread calls `Next`; `Close` may be called from any other.

#ifndef REVERB_CC_CLIENT_BATCH_BUILDER_H_
#define REVERB_CC_CLIENT_BATCH_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/sampler.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

struct BatchData {
  // Shape [B] each.
  Tensor keys;
  Tensor probabilities;
  Tensor table_sizes;
  Tensor priorities;
  Tensor times_sampled;
  std::vector<Tensor> columns;  // [B, T, ...] each, without T where squeezed
  // As SampleData; that of all items, or empty if they differ.
  std::string structure;
};

class BatchBuilder {
 public:
  struct Options {
    std::string table;  // named in errors
    int64_t batch_size = 1;
    // Whether a last batch that isn't full is left out.
    bool drop_remainder = false;
  };
  // InvalidArgument for a batch size below 1.
  static absl::StatusOr<std::unique_ptr<BatchBuilder>> Create(
      std::unique_ptr<Sampler> sampler, Options options);

  // The next batch. At the end of the sequence, or when the sampler's timeout
  // has passed, what there is of one; then OutOfRange or DeadlineExceeded.
  //
  // InvalidArgument that names the column if an item is not as those before it
  // in its batch; that is final. Errors of the sampler leave the batch as it
  // is: the next call goes on with it.
  absl::StatusOr<BatchData> Next(const WaitOptions& wait);

  // Ends a waiting `Next` (Cancelled). Idempotent.
  void Close() { sampler_->Close(); }

 private:
  BatchBuilder(std::unique_ptr<Sampler> sampler, Options options)
      : sampler_(std::move(sampler)), options_(std::move(options)) {}

  // Begins a batch of items that are as `first`.
  absl::Status Begin(const SampleData& first);
  // Whether `sample` is as those in the batch.
  absl::Status Check(const SampleData& sample) const;
  void Add(SampleData sample);
  absl::StatusOr<BatchData> Take();

  const std::unique_ptr<Sampler> sampler_;
  const Options options_;
  absl::Status final_;
  int64_t num_items_ = 0;  // of `batch_`
  BatchData batch_;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_BATCH_BUILDER_H_
