// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/rpc/metadata.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace reverb::rpc {

std::optional<absl::string_view> FindMetadata(const Metadata& metadata,
                                              absl::string_view key) {
  const auto it = metadata.find(grpc::string_ref(key.data(), key.size()));
  if (it == metadata.end()) return std::nullopt;
  return absl::string_view(it->second.data(), it->second.size());
}

bool HasFeature(absl::string_view features, absl::string_view feature) {
  for (absl::string_view name : absl::StrSplit(features, ',')) {
    if (absl::StripAsciiWhitespace(name) == feature) return true;
  }
  return false;
}

std::string CommonFeatures(absl::string_view wanted,
                           absl::string_view offered) {
  std::string common;
  for (absl::string_view name :
       absl::StrSplit(offered, ',', absl::SkipEmpty())) {
    if (!HasFeature(wanted, name)) continue;
    if (!common.empty()) common.push_back(',');
    common.append(name.data(), name.size());
  }
  return common;
}

}  // namespace reverb::rpc
