// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What code may want to read off an error, carried as a status payload.
//
// Nobody parses message text: bindings turn these fields into attributes of
// the exception, the service sends them as the trailer `reverb-error-bin`.

#ifndef REVERB_CC_SUPPORT_ERROR_INFO_H_
#define REVERB_CC_SUPPORT_ERROR_INFO_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reverb {

// Each has a default, so that designated initializers may leave it out.
struct ErrorInfo {
  std::string table{};   // empty: none
  std::string column{};  // path such as "obs/camera"; empty: none
  std::string limit{};   // what was allowed, e.g. "10000"; empty: none
  std::string actual{};  // what was met; empty: none
};

// The payload's type url.
inline constexpr absl::string_view kErrorInfoUrl = "reverb/ErrorInfo";

// `status` with `info` attached; an OK status is returned as it is.
absl::Status WithErrorInfo(absl::Status status, const ErrorInfo& info);

// The bytes of `info` as the protobuf message ErrorInfo, and back. `Decode`
// returns nothing if the bytes are no such message.
std::string EncodeErrorInfo(const ErrorInfo& info);
std::optional<ErrorInfo> DecodeErrorInfo(absl::string_view bytes);

// What `status` carries, if anything.
std::optional<ErrorInfo> GetErrorInfo(const absl::Status& status);

// Texts longer than this are cut: gRPC refuses headers over 8 kB.
inline constexpr size_t kMaxStatusText = 2000;  // bytes

// `text` at most `kMaxStatusText` bytes long, cut between UTF-8 characters.
std::string CutStatusText(absl::string_view text);

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_ERROR_INFO_H_
