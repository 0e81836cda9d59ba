// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/dropped_at_exit.h"

#include <vector>

#include "absl/container/flat_hash_set.h"

namespace reverb::python {
namespace {

// All there are; guarded by the GIL.
absl::flat_hash_set<DroppedAtExit*>& Live() {
  static auto* const live = new absl::flat_hash_set<DroppedAtExit*>;
  return *live;
}

}  // namespace

DroppedAtExit::DroppedAtExit() { Live().insert(this); }

DroppedAtExit::~DroppedAtExit() { Live().erase(this); }

void DroppedAtExit::DropAll() {
  const std::vector<DroppedAtExit*> all(Live().begin(), Live().end());
  for (DroppedAtExit* writer : all) {
    // It may have died while another was dropped, which leaves the GIL.
    if (Live().contains(writer) && !writer->busy_) writer->Drop();
  }
}

}  // namespace reverb::python
