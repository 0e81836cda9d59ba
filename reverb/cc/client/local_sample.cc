// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/local_sample.h"

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/client/sample_decoder.h"
#include "reverb/cc/engine/session.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

// Wakes the reader; outlives it in the hands of a session that is just
// calling.
class Bell final : public SessionListener {
 public:
  void OnProgress() override { Ring(/*cancel=*/false); }
  void Cancel() { Ring(/*cancel=*/true); }

  // Waits for a ring since the last one that was heard.
  void Wait(SteadyTime until) {
    MutexLock lock(mu_);
    if (!rung_ && !cancelled_) wake_.WaitUntil(mu_, until);
    rung_ = false;
  }
  bool cancelled() const {
    MutexLock lock(mu_);
    return cancelled_;
  }

 private:
  void Ring(bool cancel) {
    MutexLock lock(mu_);
    rung_ = true;
    cancelled_ |= cancel;
    wake_.NotifyAll();
  }

  mutable Mutex mu_;
  CondVar wake_;
  bool rung_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

class LocalSample final : public SampleStream {
 public:
  explicit LocalSample(std::shared_ptr<ServerCore> core)
      : core_(std::move(core)),
        bell_(std::make_shared<Bell>()),
        session_(core_->OpenSampleSession(bell_)) {}
  ~LocalSample() override { session_->Close(); }

  void Request(const SampleMessage& message) override {
    requests_.push_back(message);
    Advance();
  }

  Event Next(SteadyTime until) override {
    while (true) {
      if (bell_->cancelled()) {
        return {.kind = Event::kEnded,
                .ended = absl::CancelledError("cancelled")};
      }
      if (next_ == ready_.size()) Advance();
      if (next_ < ready_.size()) {
        const Sample sample = std::move(ready_[next_++]);
        return {.kind = Event::kSample, .sample = DecodeLocal(sample)};
      }
      // Asked after `Advance`: what was ready comes first.
      if (absl::Status status = session_->status(); !status.ok()) {
        if (Advance(); next_ < ready_.size()) continue;
        return {.kind = Event::kEnded, .ended = std::move(status)};
      }
      if (Clock::Real().Now() >= until) return {.kind = Event::kNothing};
      bell_->Wait(until);
    }
  }

  bool connected() const override { return true; }
  void Cancel() override { bell_->Cancel(); }

 private:
  // Takes what is ready, and begins the next request when one is complete.
  void Advance() {
    if (next_ == ready_.size()) {
      ready_ = session_->Take();
      next_ = 0;
    }
    if (requests_.empty() || !session_->RequestIsComplete()) return;
    const SampleMessage message = std::move(requests_.front());
    requests_.pop_front();
    // An error is the session's status from here on.
    session_->Request(message).IgnoreError();
    if (next_ == ready_.size()) {
      ready_ = session_->Take();
      next_ = 0;
    }
  }

  const std::shared_ptr<ServerCore> core_;
  const std::shared_ptr<Bell> bell_;
  const std::shared_ptr<SampleSession> session_;
  std::deque<SampleMessage> requests_;
  std::vector<Sample> ready_;
  size_t next_ = 0;  // of `ready_`
};

}  // namespace

std::unique_ptr<SampleStream> NewLocalSampleStream(
    std::shared_ptr<ServerCore> core) {
  return std::make_unique<LocalSample>(std::move(core));
}

}  // namespace reverb
