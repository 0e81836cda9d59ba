// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/background.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/executor.h"
#include "reverb/cc/support/log.h"
#include "reverb/cc/support/mutex.h"

namespace reverb {
namespace {

// How often a stream is asked whether it is done: often at first, since most
// have nothing to wait for but an answer.
constexpr std::chrono::milliseconds kFirstLook{5};
constexpr std::chrono::milliseconds kSlowestLook{500};

struct Sending {
  std::shared_ptr<InsertStream> stream;
  SteadyTime give_up;
};

struct State {
  Mutex mu;
  CondVar changed;
  std::vector<std::shared_ptr<Sending>> all ABSL_GUARDED_BY(mu);
};

State& GetState() {
  static State* const state = new State;
  return *state;
}

void ReportLost(int64_t items, const absl::Status& why) {
  LogWarning(absl::StrCat(
      items, " items of a writer that was dropped could not be inserted",
      why.ok() ? "" : ": ", why.message()));
}

// Items lost with the stream.
int64_t End(InsertStream& stream) {
  const int64_t lost = stream.num_pending();
  if (lost > 0) ReportLost(lost, stream.status());
  stream.Close();
  return lost;
}

void Look(const std::shared_ptr<Sending>& sending, SteadyDuration pause) {
  State& state = GetState();
  const SteadyTime now = Clock::Real().Now();
  if (sending->stream->num_pending() > 0 && sending->stream->status().ok() &&
      now < sending->give_up) {
    const SteadyDuration next =
        std::min<SteadyDuration>(2 * pause, kSlowestLook);
    Executor::Default().PostAt(std::min(now + pause, sending->give_up),
                               [sending, next] { Look(sending, next); });
    return;
  }
  {
    MutexLock lock(state.mu);
    if (std::erase(state.all, sending) == 0) return;  // ended at exit
    state.changed.NotifyAll();
  }
  End(*sending->stream);
}

}  // namespace

void FinishInBackground(const Endpoint& endpoint,
                        std::shared_ptr<InsertStream> stream) {
  const std::optional<double>& timeout = endpoint.options().reconnect_timeout;
  auto sending = std::make_shared<Sending>();
  sending->stream = std::move(stream);
  sending->give_up =
      timeout ? DeadlineAfter(Clock::Real().Now(), *timeout) : kNoDeadline;
  State& state = GetState();
  {
    MutexLock lock(state.mu);
    state.all.push_back(sending);
  }
  Look(sending, kFirstLook);
}

int64_t EndBackgroundStreams(SteadyTime deadline) {
  State& state = GetState();
  std::vector<std::shared_ptr<Sending>> rest;
  {
    MutexLock lock(state.mu);
    while (!state.all.empty() && state.changed.WaitUntil(state.mu, deadline)) {
    }
    rest.swap(state.all);
  }
  int64_t lost = 0;
  for (const auto& sending : rest) lost += End(*sending->stream);
  return lost;
}

}  // namespace reverb
