// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/codec/string_content.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace reverb {
namespace {

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

absl::Status Corrupt(absl::string_view why) {
  return absl::DataLossError(absl::StrCat("corrupt string content: ", why));
}

}  // namespace

void AppendStringLength(size_t length, std::string& out) {
  uint64_t rest = length;
  for (; rest >= 0x80; rest >>= 7)
    out.push_back(static_cast<char>(rest | 0x80));
  out.push_back(static_cast<char>(rest));
}

void EncodeStrings(absl::Span<const absl::string_view> strings,
                   std::string& out) {
  size_t bytes = 0;
  for (const absl::string_view text : strings) bytes += text.size() + 2;
  out.reserve(out.size() + bytes);
  for (const absl::string_view text : strings) {
    AppendStringLength(text.size(), out);
  }
  for (const absl::string_view text : strings) {
    out.append(text.data(), text.size());
  }
}

absl::StatusOr<std::vector<absl::string_view>> DecodeStrings(
    int64_t num_strings, absl::string_view content) {
  // A length takes a byte at least: nothing is allocated on a false count.
  if (num_strings < 0 || static_cast<uint64_t>(num_strings) > content.size()) {
    return Corrupt(absl::StrCat(content.size(), " bytes can't hold ",
                                num_strings, " strings"));
  }
  std::vector<absl::string_view> strings(num_strings);
  // The lengths come first; until the bytes are reached, a view of the right
  // length stands in.
  absl::string_view rest = content;
  uint64_t total = 0;
  for (absl::string_view& text : strings) {
    const std::optional<uint64_t> length = TakeVarint(rest);
    if (!length) return Corrupt("a length is cut short");
    if (*length > content.size() - total) {
      return Corrupt("the strings are longer than the content");
    }
    total += *length;
    text = content.substr(0, *length);
  }
  if (total != rest.size()) {
    return Corrupt(absl::StrCat("lengths add up to ", total, ", but ",
                                rest.size(), " bytes follow"));
  }
  for (absl::string_view& text : strings) {
    const size_t length = text.size();
    text = rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return strings;
}

}  // namespace reverb
