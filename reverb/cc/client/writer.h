// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The legacy writer: steps in, items over the last N steps out.
//
// All columns are chunked together. Items are sent when their chunk is full,
// or by `Flush`. Semantics of spec/api.md section 11.
//
// Threads: one thread.

#ifndef REVERB_CC_CLIENT_WRITER_H_
#define REVERB_CC_CLIENT_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/wait.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

class Writer {
 public:
  struct Options {
    int chunk_length = 1;   // steps; 1 .. max_timesteps
    int max_timesteps = 1;  // steps an item may have
    bool delta_encoded = false;
    int max_in_flight_items = 25;  // sent and not confirmed
  };

  virtual ~Writer() = default;

  virtual absl::Status Append(absl::Span<const TensorView> columns,
                              const WaitOptions& wait) = 0;
  // Leaves `[T, ...]` with equal T.
  virtual absl::Status AppendSequence(absl::Span<const TensorView> columns,
                                      const WaitOptions& wait) = 0;
  virtual absl::Status CreateItem(absl::string_view table, int num_timesteps,
                                  double priority, const WaitOptions& wait) = 0;
  // The nesting of the steps' data, which the items created from now on are
  // stored with (`Item::extra`). Null: none.
  virtual void SetStructure(std::shared_ptr<const std::string> field) = 0;
  virtual absl::Status Flush(const WaitOptions& wait) = 0;
  virtual absl::Status Close(bool retry_on_unavailable,
                             const WaitOptions& wait) = 0;

  // As 0.14 prints it: "Writer(chunk_length=..., ...)".
  virtual std::string ToString() const = 0;
  virtual bool closed() const = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_WRITER_H_
