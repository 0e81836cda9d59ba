// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// An InsertStream call over gRPC.
//
// Threads: as InsertConnection.

#ifndef REVERB_CC_CLIENT_REMOTE_INSERT_H_
#define REVERB_CC_CLIENT_REMOTE_INSERT_H_

#include <memory>
#include <string>

#include "reverb/cc/client/channel.h"
#include "reverb/cc/client/insert_connection.h"

namespace reverb {

// `expect_wait`: the server is believed to offer the feature `wait`, so that
// items with a limit had better be held for a moment until the stream has
// confirmed it.
// `session_id`: 32 hex digits, the same for all connections of one stream.
std::shared_ptr<InsertConnection> NewRemoteInsertConnection(
    std::shared_ptr<Channels> channels, bool expect_wait,
    const std::string& session_id);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_REMOTE_INSERT_H_
