// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The servers of this very process, by port, so that a client whose target is
// a loopback address can go straight to the engine.
//
// Threads: thread-safe.

#ifndef REVERB_CC_ENGINE_REGISTRY_H_
#define REVERB_CC_ENGINE_REGISTRY_H_

#include <memory>

#include "absl/strings/string_view.h"

#include "reverb/cc/engine/server_core.h"

namespace reverb {

void RegisterServer(int port, const std::shared_ptr<ServerCore>& core);
void UnregisterServer(int port, const ServerCore* core);

// The live server behind `target` if that is a loopback address ("localhost",
// "127.x.x.x", "[::1]", with or without a gRPC scheme) and a port on which a
// server of this process listens; else null. Null in a forked child.
std::shared_ptr<ServerCore> FindLocalServer(absl::string_view target);

}  // namespace reverb

#endif  // REVERB_CC_ENGINE_REGISTRY_H_
