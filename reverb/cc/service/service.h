// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The methods of deepmind.reverb.ReverbService, by their paths.
//
// Threads: thread-safe.

#ifndef REVERB_CC_SERVICE_SERVICE_H_
#define REVERB_CC_SERVICE_SERVICE_H_

#include <grpcpp/generic/async_generic_service.h>

#include <memory>

#include "reverb/cc/engine/server_core.h"

namespace reverb {

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(std::shared_ptr<ServerCore> core);

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  const std::shared_ptr<ServerCore> core_;
};

}  // namespace reverb

#endif  // REVERB_CC_SERVICE_SERVICE_H_
