// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Idle insert streams between two `Client.insert`s.
//
// Each call has a stream to itself: two threads on one stream could wait for
// each other's tables.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_STREAM_POOL_H_
#define REVERB_CC_CLIENT_STREAM_POOL_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {

class StreamPool {
 public:
  explicit StreamPool(std::shared_ptr<Endpoint> endpoint)
      : endpoint_(std::move(endpoint)) {}
  ~StreamPool();

  // The stream used last, or a new one.
  std::shared_ptr<InsertStream> Take();
  // Takes an idle stream back; closes it where streams are not alike
  // (`Endpoint::StreamsAreAlike`), it has failed or there are enough.
  void Give(std::shared_ptr<InsertStream> stream);

 private:
  const std::shared_ptr<Endpoint> endpoint_;
  Mutex mu_;
  std::vector<std::shared_ptr<InsertStream>> idle_ ABSL_GUARDED_BY(mu_);
  int64_t generation_ ABSL_GUARDED_BY(mu_) = 0;  // of the endpoint
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_STREAM_POOL_H_
