// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/service/call_metadata.h"

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/status.h"

namespace reverb {
namespace {

// Names as in rpc/metadata.h.
constexpr absl::string_view kOfferedFeatures = "session,wait";

}  // namespace

CallMetadata::CallMetadata(const ServerCore& core,
                           grpc::CallbackServerContext* context)
    : context_(context),
      server_id_(core.server_id()),
      unix_socket_(core.unix_socket()) {
  const std::optional<absl::string_view> wanted =
      rpc::FindMetadata(context->client_metadata(), rpc::kFeaturesKey);
  if (wanted.has_value()) {
    features_ = rpc::CommonFeatures(*wanted, kOfferedFeatures);
  }
}

bool CallMetadata::AddInitial() {
  if (!features_.has_value()) return false;
  context_->AddInitialMetadata(rpc::kFeaturesKey, *features_);
  context_->AddInitialMetadata(rpc::kServerIdKey, server_id_);
  if (!unix_socket_.empty()) {
    context_->AddInitialMetadata(rpc::kUnixSocketKey, unix_socket_);
  }
  return true;
}

void CallMetadata::AddTrailing(const absl::Status& status) {
  if (!features_.has_value() || status.ok()) return;
  if (absl::IsUnavailable(status)) {
    context_->AddTrailingMetadata(rpc::kStoppingKey, "1");
  }
  if (const auto info = rpc::ErrorInfoTrailer(status)) {
    context_->AddTrailingMetadata(rpc::kErrorInfoKey, *info);
  }
}

}  // namespace reverb
