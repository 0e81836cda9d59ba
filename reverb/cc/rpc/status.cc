// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/rpc/status.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/support/error_info.h"

namespace reverb::rpc {
namespace {

// What the text takes in a header, where anything but printable ASCII is
// written as "%XX".
size_t EncodedSize(absl::string_view text) {
  size_t size = 0;
  for (const char c : text)
    size += (c >= 0x20 && c <= 0x7e && c != '%') ? 1 : 3;
  return size;
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  constexpr size_t kMaxEncoded = 2 * kMaxStatusText;
  std::string text = CutStatusText(status.message());
  if (EncodedSize(text) > kMaxEncoded) {
    text.resize(kMaxEncoded / 3);
    while (!text.empty() && (text.back() & 0xc0) == 0x80) text.pop_back();
    if (!text.empty() && (text.back() & 0x80) != 0) text.pop_back();
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), text);
}

std::optional<std::string> ErrorInfoTrailer(const absl::Status& status) {
  std::optional<ErrorInfo> info = GetErrorInfo(status);
  if (!info) return std::nullopt;
  // Table names and column paths are the users' and may be long.
  constexpr size_t kMaxField = 250;  // bytes
  for (std::string* field :
       {&info->table, &info->column, &info->limit, &info->actual}) {
    if (field->size() > kMaxField) field->clear();
  }
  return EncodeErrorInfo(*info);
}

absl::Status FromGrpcStatus(const grpc::Status& status,
                            const Metadata& trailers) {
  if (status.ok()) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status.error_code()),
                      CutStatusText(status.error_message()));
  if (const auto bytes = FindMetadata(trailers, kErrorInfoKey)) {
    if (const auto info = DecodeErrorInfo(*bytes)) {
      result = WithErrorInfo(std::move(result), *info);
    }
  }
  return result;
}

}  // namespace reverb::rpc
