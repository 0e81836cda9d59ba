// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The sample session of a server core: requests in, samples out, by batches.

#ifndef REVERB_CC_ENGINE_SAMPLE_SESSION_H_
#define REVERB_CC_ENGINE_SAMPLE_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "reverb/cc/engine/server_core.h"
#include "reverb/cc/engine/session.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/table/table.h"

namespace reverb {

class CoreSampleSession final
    : public SampleSession,
      public SampleSink,
      public std::enable_shared_from_this<CoreSampleSession> {
 public:
  CoreSampleSession(std::shared_ptr<ServerCore> core,
                    std::weak_ptr<SessionListener> listener);

  absl::Status Request(const SampleMessage& message) override;
  std::vector<Sample> Take() override;
  bool RequestIsComplete() override;
  absl::Status status() override;
  void Close() override;

  void OnSamples(std::vector<Sample> samples, absl::Status status) override;

  // The server stops: a request that waits was ended by its table.
  void Stop();

 private:
  // Asks the table for the next batch if one is due.
  void AskTable();
  absl::Status BeginRequest(const SampleMessage& message);
  void FailLocked(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Notify();

  const std::shared_ptr<ServerCore> core_;
  const std::weak_ptr<SessionListener> listener_;

  Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  // Of the request being served.
  std::shared_ptr<Table> table_ ABSL_GUARDED_BY(mu_);
  std::optional<int64_t> timeout_ms_ ABSL_GUARDED_BY(mu_);
  bool try_once_ ABSL_GUARDED_BY(mu_) = false;
  int64_t ungranted_ ABSL_GUARDED_BY(mu_) = 0;  // samples still to be granted
  // The batch the table works at: at most one. Batches are numbered, because
  // the answer may come before the ticket that withdraws it.
  bool asked_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t num_asked_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<uint64_t> ticket_ ABSL_GUARDED_BY(mu_);
  int64_t last_batch_ ABSL_GUARDED_BY(mu_);
  // Granted and not yet taken.
  std::vector<Sample> ready_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_SAMPLE_SESSION_H_
