// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/error_info.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace reverb {
namespace {

// The message has four string fields, numbered 1 to 4: few enough to write
// here, where no layer that knows protobuf can be used.
constexpr int kNumFields = 4;

std::string ErrorInfo::*const kFields[kNumFields] = {
    &ErrorInfo::table, &ErrorInfo::column, &ErrorInfo::limit,
    &ErrorInfo::actual};

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

std::optional<uint64_t> TakeVarint(absl::string_view& in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (in.empty()) return std::nullopt;
    const auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string EncodeErrorInfo(const ErrorInfo& info) {
  std::string out;
  for (int i = 0; i < kNumFields; ++i) {
    const std::string& text = info.*kFields[i];
    if (text.empty()) continue;
    AppendVarint(static_cast<uint64_t>(i + 1) << 3 | 2, out);
    AppendVarint(text.size(), out);
    out.append(text);
  }
  return out;
}

std::optional<ErrorInfo> DecodeErrorInfo(absl::string_view bytes) {
  ErrorInfo info;
  while (!bytes.empty()) {
    const std::optional<uint64_t> tag = TakeVarint(bytes);
    if (!tag || (*tag & 7) != 2) return std::nullopt;
    const std::optional<uint64_t> size = TakeVarint(bytes);
    if (!size || *size > bytes.size()) return std::nullopt;
    const uint64_t field = *tag >> 3;
    if (field >= 1 && field <= kNumFields) {
      info.*kFields[field - 1] = std::string(bytes.substr(0, *size));
    }
    bytes.remove_prefix(*size);
  }
  return info;
}

absl::Status WithErrorInfo(absl::Status status, const ErrorInfo& info) {
  if (!status.ok()) {
    status.SetPayload(kErrorInfoUrl, absl::Cord(EncodeErrorInfo(info)));
  }
  return status;
}

std::optional<ErrorInfo> GetErrorInfo(const absl::Status& status) {
  const auto payload = status.GetPayload(kErrorInfoUrl);
  if (!payload) return std::nullopt;
  return DecodeErrorInfo(std::string(*payload));
}

std::string CutStatusText(absl::string_view text) {
  if (text.size() <= kMaxStatusText) return std::string(text);
  constexpr absl::string_view kMark = " ...";
  size_t end = kMaxStatusText - kMark.size();
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), kMark);
}

}  // namespace reverb
