// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/error_info.h"

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace reverb {
namespace {

ErrorInfo Example() {
  ErrorInfo info;
  info.table = "replay";
  info.column = "obs/camera";
  info.limit = "10000";
  info.actual = std::string(300, 'x');
  return info;
}

void ExpectEqual(const ErrorInfo& a, const ErrorInfo& b) {
  EXPECT_EQ(a.table, b.table);
  EXPECT_EQ(a.column, b.column);
  EXPECT_EQ(a.limit, b.limit);
  EXPECT_EQ(a.actual, b.actual);
}

TEST(ErrorInfo, ComesBackFromItsBytes) {
  const std::optional<ErrorInfo> info =
      DecodeErrorInfo(EncodeErrorInfo(Example()));
  ASSERT_TRUE(info.has_value());
  ExpectEqual(*info, Example());
  EXPECT_EQ(EncodeErrorInfo(ErrorInfo()), "");
}

TEST(ErrorInfo, IsWrittenAsProtobuf) {
  ErrorInfo info;
  info.table = "t";
  info.limit = "5";
  EXPECT_EQ(EncodeErrorInfo(info),
            "\x0a\x01t\x1a\x01"
            "5");
}

TEST(ErrorInfo, UnknownFieldsAreSkipped) {
  const std::optional<ErrorInfo> info =
      DecodeErrorInfo(std::string("\x7a\x02zz\x0a\x01t", 7));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->table, "t");
}

TEST(ErrorInfo, BytesCutShortAreRefusedOrShorter) {
  const std::string bytes = EncodeErrorInfo(Example());
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto info = DecodeErrorInfo(bytes.substr(0, n));
    if (!info) continue;
    EXPECT_LT(EncodeErrorInfo(*info).size(), bytes.size());
  }
  EXPECT_FALSE(DecodeErrorInfo("\xff\xff").has_value());
  EXPECT_FALSE(DecodeErrorInfo(std::string("\x08\x01", 2)).has_value());
  EXPECT_FALSE(DecodeErrorInfo(std::string(20, '\xff')).has_value());
}

TEST(ErrorInfo, TravelsWithAStatus) {
  const absl::Status status =
      WithErrorInfo(absl::InvalidArgumentError("no"), Example());
  const auto info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  ExpectEqual(*info, Example());
  EXPECT_TRUE(WithErrorInfo(absl::OkStatus(), Example()).ok());
  EXPECT_FALSE(GetErrorInfo(absl::InternalError("bare")).has_value());
}

TEST(CutStatusText, ShortTextsStay) {
  const std::string text(kMaxStatusText, 'a');
  EXPECT_EQ(CutStatusText(text), text);
}

TEST(CutStatusText, CutsBetweenCharacters) {
  for (int shift = 0; shift < 3; ++shift) {
    std::string text(shift, 'a');
    while (text.size() <= kMaxStatusText) text += "\u20ac";
    const std::string cut = CutStatusText(text);
    EXPECT_LE(cut.size(), kMaxStatusText);
    ASSERT_TRUE(cut.ends_with(" ..."));
    EXPECT_EQ((cut.size() - 4 - shift) % 3, 0u);
  }
}

}  // namespace
}  // namespace reverb
