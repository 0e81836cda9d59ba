// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Inserts into a server of this process: items by reference, on the thread
// that appends them.
//
// Threads: as InsertConnection.

#ifndef REVERB_CC_CLIENT_LOCAL_INSERT_H_
#define REVERB_CC_CLIENT_LOCAL_INSERT_H_

#include <memory>

#include "reverb/cc/client/insert_connection.h"
#include "reverb/cc/engine/server_core.h"

namespace reverb {

std::shared_ptr<InsertConnection> NewLocalInsertConnection(
    std::shared_ptr<ServerCore> core);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_LOCAL_INSERT_H_
