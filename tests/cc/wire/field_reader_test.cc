// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/field_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "reverb/cc/wire/field_writer.h"
#include "reverb/cc/wire/slice_reader.h"
#include "reverb/cc/wire/utf8.h"
#include "tests/cc/wire/test_messages.h"

namespace reverb::wire {
namespace {

// One field of each wire type, a group with a group in it among them.
std::string AllTypes() {
  std::string bytes = Message([](pbf_writer& out) {
    out.add_uint64(1, std::numeric_limits<uint64_t>::max());
    out.add_fixed64(2, 7);
    out.add_string(3, std::string(200, 'x'));
    out.add_fixed32(4, 9);
    out.add_string(100000, "");
  });
  bytes += std::string("\x2b\x08\x01\x33\x12\x01z\x34\x2c", 9);  // group 5, 6
  bytes += Message([](pbf_writer& out) { out.add_bool(7, true); });
  return bytes;
}

TEST(FieldReader, ReadsEveryWireType) {
  const std::string bytes = AllTypes();
  FieldReader in(bytes);
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.tag(), Tag(1, kVarint));
  EXPECT_EQ(in.varint(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(in.int64(), -1);
  EXPECT_EQ(in.int32(), -1);
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.tag(), Tag(2, kFixed64));
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.tag(), Tag(3, kBytes));
  EXPECT_EQ(in.bytes(), std::string(200, 'x'));
  EXPECT_EQ(in.raw().size(), 203u);
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.tag(), Tag(4, kFixed32));
  EXPECT_EQ(in.varint(), 9u);
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.number(), 100000u);
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.tag(), Tag(5, kStartGroup));
  EXPECT_EQ(in.raw().size(), 9u);
  ASSERT_TRUE(in.Next());
  EXPECT_TRUE(in.boolean());
  EXPECT_FALSE(in.Next());
  EXPECT_TRUE(in.status("Test").ok());
}

TEST(FieldReader, SaysWhatIsWrongAndWhere) {
  FieldReader in(
      absl::string_view("\x08\x01\x0a\x05"
                        "ab",
                        6));
  EXPECT_TRUE(in.Next());
  EXPECT_FALSE(in.Next());
  EXPECT_FALSE(in.Next());
  const absl::Status status = in.status("Thing");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "not a valid Thing: a length beyond the end of the message at "
            "byte 2");
}

struct BadCase {
  const char* name;
  std::string bytes;
};

std::vector<BadCase> BadCases() {
  std::string deep_groups;
  for (int i = 0; i < 101; ++i) deep_groups += '\x0b';
  for (int i = 0; i < 101; ++i) deep_groups += '\x0c';
  return {
      {"number 0", std::string("\x00\x01", 2)},
      {"wire type 6", "\x0e\x01"},
      {"wire type 7", "\x0f\x01"},
      {"end of no group", "\x0c"},
      {"group without end", "\x0b\x08\x01"},
      {"group with another's end", "\x0b\x14"},
      {"groups too deep", deep_groups},
      {"varint without end", "\x08\x80"},
      {"varint of 11 bytes",
       "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
      {"tag over 32 bits", "\x88\x80\x80\x80\x80\x01\x01"},
      {"fixed64 cut short",
       "\x09"
       "1234567"},
      {"fixed32 cut short",
       "\x0d"
       "123"},
      {"length over the end", "\x0a\x02x"},
      {"length 2^32 + 1", "\x0a\x81\x80\x80\x80\x10x"},
      {"length 2^63", "\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01x"},
      {"length 2^64 - 1", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"},
  };
}

TEST(FieldReader, RefusesWhatIsNoMessage) {
  for (const BadCase& bad : BadCases()) {
    FieldReader in(bad.bytes);
    while (in.Next()) {
    }
    EXPECT_FALSE(in.status("Test").ok()) << bad.name;
  }
}

TEST(SliceReader, RefusesWhatIsNoMessageHoweverItIsCut) {
  for (const BadCase& bad : BadCases()) {
    for (size_t size = 1; size <= bad.bytes.size(); ++size) {
      const auto slices = Cut(bad.bytes, size);
      SliceReader in(slices);
      while (in.Next()) {
      }
      EXPECT_FALSE(in.status("Test").ok()) << bad.name << " cut at " << size;
    }
  }
}

TEST(SliceReader, ReadsTheSameHoweverTheMessageIsCut) {
  const std::string bytes = AllTypes();
  for (size_t size = 1; size <= bytes.size(); ++size) {
    const auto slices = Cut(bytes, size);
    SliceReader pieces(slices);
    FieldReader whole(bytes);
    std::string scratch;
    EXPECT_EQ(pieces.remaining(), bytes.size());
    while (whole.Next()) {
      ASSERT_TRUE(pieces.Next());
      EXPECT_EQ(pieces.tag(), whole.tag());
      if (whole.tag() == Tag(1, kVarint)) {
        EXPECT_EQ(pieces.varint(), whole.varint());
      }
      if (whole.tag() == Tag(3, kBytes)) {
        EXPECT_EQ(pieces.length(), whole.bytes().size());
        EXPECT_EQ(pieces.Bytes(scratch), whole.bytes());
      }
    }
    EXPECT_FALSE(pieces.Next());
    EXPECT_TRUE(pieces.status("Test").ok());
    EXPECT_EQ(pieces.remaining(), 0u);
  }
}

TEST(SliceReader, BorrowsWhatLiesInOneSlice) {
  const std::string bytes =
      Message([](pbf_writer& out) { out.add_string(1, "abc"); });
  const absl::string_view slice = bytes;
  SliceReader in({&slice, 1});
  std::string scratch;
  ASSERT_TRUE(in.Next());
  EXPECT_EQ(in.Bytes(scratch).data(), bytes.data() + 2);
  EXPECT_TRUE(scratch.empty());
}

TEST(AppendPacked, ReservesWhatTheBytesHold) {
  std::vector<uint64_t> values;
  EXPECT_TRUE(AppendPacked(absl::string_view("\x01\xff\x01\x00", 4), values));
  EXPECT_EQ(values, (std::vector<uint64_t>{1, 255, 0}));
  EXPECT_FALSE(AppendPacked("\x01\xff", values));
}

TEST(FieldWriter, SizesAreThoseOfTheBytesWritten) {
  for (int bits = 0; bits < 64; ++bits) {
    const uint64_t value = uint64_t{1} << bits;
    for (uint64_t v : {value - 1, value, value + 1}) {
      EXPECT_EQ(VarintSize(v),
                static_cast<size_t>(protozero::length_of_varint(v)));
    }
  }
  EXPECT_EQ(VarintSize(std::numeric_limits<uint64_t>::max()), 10u);
}

TEST(IsUtf8, FollowsTheStandard) {
  for (const char* good :
       {"", "plain", "long enough to be read in words", "gr\xc3\xbc\xc3\x9f",
        "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf", "\x7f",
        "12345678\xc3\xa9 12345678"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf8\x88",
        "\xff", "12345678\xe2\x82", "a\xc3(", "\xe2(\xa1"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
  }
  EXPECT_TRUE(IsUtf8(absl::string_view("\0a", 2)));
}

}  // namespace
}  // namespace reverb::wire
