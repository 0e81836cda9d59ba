// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Sinks that keep what a table tells them.
//
// Threads: thread-safe.

#ifndef TESTS_CC_TESTING_SINKS_H_
#define TESTS_CC_TESTING_SINKS_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/support/mutex.h"
#include "reverb/cc/table/requests.h"

namespace reverb {

class RecordingInsertSink final : public InsertSink {
 public:
  void OnInserts(absl::Span<const InsertResult> results) override {
    MutexLock lock(mu_);
    ++num_calls_;
    results_.insert(results_.end(), results.begin(), results.end());
    changed_.NotifyAll();
  }

  // What came since the last call.
  std::vector<InsertResult> Take() {
    MutexLock lock(mu_);
    return std::exchange(results_, {});
  }
  // As `Take`, when there are so many.
  std::vector<InsertResult> WaitFor(size_t count) {
    MutexLock lock(mu_);
    while (results_.size() < count) changed_.Wait(mu_);
    return std::exchange(results_, {});
  }
  int num_calls() const {
    MutexLock lock(mu_);
    return num_calls_;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<InsertResult> results_ ABSL_GUARDED_BY(mu_);
  int num_calls_ ABSL_GUARDED_BY(mu_) = 0;
};

class RecordingSampleSink final : public SampleSink {
 public:
  struct Answer {
    std::vector<Sample> samples;
    absl::Status status;
  };

  void OnSamples(std::vector<Sample> samples, absl::Status status) override {
    MutexLock lock(mu_);
    answers_.push_back({std::move(samples), std::move(status)});
    changed_.NotifyAll();
  }

  // What came since the last call.
  std::vector<Answer> Take() {
    MutexLock lock(mu_);
    return std::exchange(answers_, {});
  }
  // Waits for an answer and takes it.
  Answer WaitForOne() {
    MutexLock lock(mu_);
    while (answers_.empty()) changed_.Wait(mu_);
    Answer answer = std::move(answers_.front());
    answers_.erase(answers_.begin());
    return answer;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<Answer> answers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reverb

#endif  // TESTS_CC_TESTING_SINKS_H_
