// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// One stream of samples from one server, read by the thread that calls it.
//
// Threads: one thread; `Cancel` from any.

#ifndef REVERB_CC_CLIENT_SAMPLE_STREAM_H_
#define REVERB_CC_CLIENT_SAMPLE_STREAM_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/sampler.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

class SampleStream {
 public:
  struct Event {
    enum Kind {
      kNothing,  // nothing came in time
      kSample,   // `sample`, or why it can't be decoded
      kEnded,    // the stream is over: `ended`
    };
    Kind kind = kNothing;
    std::optional<absl::StatusOr<SampleData>> sample = std::nullopt;
    absl::Status ended = absl::OkStatus();
  };

  // Destruction withdraws what was requested and has not come.
  virtual ~SampleStream() = default;

  // Adds a request; they are served one after the other.
  virtual void Request(const SampleMessage& message) = 0;

  // The next sample, waiting for it until `until`.
  virtual Event Next(SteadyTime until) = 0;

  // Whether the server has been reached.
  virtual bool connected() const = 0;

  // Ends the stream and a waiting `Next`.
  virtual void Cancel() = 0;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SAMPLE_STREAM_H_
