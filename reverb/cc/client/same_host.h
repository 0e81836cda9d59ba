// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The way to a server on the same host: a channel over its unix socket, half
// as dear per byte as TCP.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_SAME_HOST_H_
#define REVERB_CC_CLIENT_SAME_HOST_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>

namespace reverb {

// Connects to `path` if it lies in a folder of this user alone, and asks who
// is there. Calls `done` once, from this call or from an I/O thread: with the
// channel if the server `server_id` has answered, else with null. A channel
// does not reconnect.
void ConnectSameHost(const std::string& path, const std::string& server_id,
                     std::function<void(std::shared_ptr<grpc::Channel>)> done);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SAME_HOST_H_
