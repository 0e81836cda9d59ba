// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/codec/string_content.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

using Views = std::vector<absl::string_view>;

std::string Encode(const Views& strings) {
  std::string content;
  EncodeStrings(strings, content);
  return content;
}

void ExpectDataLoss(int64_t count, absl::string_view content) {
  EXPECT_EQ(DecodeStrings(count, content).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(StringContent, IsLengthsThenBytes) {
  EXPECT_EQ(Encode({"ab", "", "xyz"}), std::string("\x02\x00\x03"
                                                   "abxyz",
                                                   8));
  EXPECT_EQ(Encode({}), "");
}

TEST(StringContent, RoundTrips) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> strings(rng.NextBelow(20));
    for (std::string& text : strings) {
      text.resize(rng.NextBelow(rng.NextBelow(10) == 0 ? 20'000 : 200));
      for (char& byte : text) byte = static_cast<char>(rng.Next());
    }
    const Views views(strings.begin(), strings.end());
    const std::string content = Encode(views);
    const auto back =
        DecodeStrings(static_cast<int64_t>(strings.size()), content);
    ASSERT_TRUE(back.ok()) << back.status();
    ASSERT_EQ(*back, views);
  }
}

TEST(StringContent, EveryCutAndEveryExtraByteIsDataLoss) {
  const std::string content = Encode({"ab", "", std::string(300, 'x'), "xyz"});
  for (size_t n = 0; n < content.size(); ++n) {
    ExpectDataLoss(4, absl::string_view(content).substr(0, n));
  }
  ExpectDataLoss(4, content + "x");
  ExpectDataLoss(3, content);
  ExpectDataLoss(5, content);
  ExpectDataLoss(0, content);
}

TEST(StringContent, FalseCountsAndLengthsAreDataLoss) {
  ExpectDataLoss(-1, "");
  ExpectDataLoss(INT64_MAX, "abc");
  ExpectDataLoss(1, "");
  // A length of 2^64 - 1, and one of more than 64 bits.
  ExpectDataLoss(1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  ExpectDataLoss(1, std::string(20, '\xff'));
  // Two lengths whose sum wraps around to what is there.
  ExpectDataLoss(2, std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                "\x01",
                                11));
}

}  // namespace
}  // namespace reverb
