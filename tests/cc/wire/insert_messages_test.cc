// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// InsertStreamRequest and InsertStreamResponse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/wire/messages.h"
#include "tests/cc/wire/test_messages.h"

namespace reverb::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<InsertMessage> Parse(absl::string_view bytes,
                                    const Limits& limits = {}) {
  return ParseInsertRequest({&bytes, 1}, limits);
}

std::string Slice(uint64_t key, int offset, int length, int index) {
  return Message([&](pbf_writer& out) {
    out.add_uint64(1, key);
    out.add_int32(2, offset);
    out.add_int32(3, length);
    out.add_int32(4, index);
  });
}

std::string Column(std::vector<std::string> slices, bool squeeze = false) {
  return Message([&](pbf_writer& out) {
    for (const std::string& slice : slices) out.add_message(1, slice);
    if (squeeze) out.add_bool(2, true);
  });
}

// A message with one item whose FlatTrajectory is `trajectory`.
std::string OneItem(const std::string& trajectory) {
  return Message([&](pbf_writer& out) {
    pbf_writer item(out, 2);
    item.add_uint64(1, 5);
    item.add_string(2, "table");
    item.add_double(5, 0.5);
    item.add_message(8, trajectory);
  });
}

std::string Columns(std::vector<std::string> columns) {
  return Message([&](pbf_writer& out) {
    for (const std::string& column : columns) out.add_message(1, column);
  });
}

Ref<Item> TestItem(const Ref<const Chunk>& chunk, absl::string_view extra) {
  Trajectory trajectory;
  trajectory.Add({chunk, 0, 2, 0, /*ends_column=*/false, false});
  trajectory.Add({chunk, 2, 1, 0, /*ends_column=*/true, false});
  trajectory.Add({chunk, 1, 1, 0, /*ends_column=*/true, /*squeeze=*/true});
  return MakeRef<Item>(ItemKey{99}, std::move(trajectory),
                       std::make_shared<const std::string>(extra));
}

TEST(InsertRequest, ComesBackFromTheBuilder) {
  // A small chunk, copied into the text, and a large one, referenced.
  const Ref<const Chunk> small = TestChunk(1);
  const Ref<const Chunk> large = TestChunk(2, 10'000);
  const std::string structure =
      Message([](pbf_writer& out) { out.add_bytes(1000, "structure"); });
  InsertRequestBuilder builder;
  builder.AddChunk(small);
  builder.AddChunk(large);
  builder.AddItem("table", -0.0, *TestItem(large, structure));
  builder.AddItem("other", 2.5, *TestItem(small, ""));
  builder.SetKeepChunkKeys({1, 2, std::numeric_limits<uint64_t>::max()});
  builder.SetWait(1500);
  EXPECT_EQ(builder.num_items(), 2);
  const size_t size = builder.size();
  const Rope rope = builder.Build();
  EXPECT_EQ(builder.num_items(), 0);
  EXPECT_EQ(builder.size(), 0u);
  const std::string bytes = rope.Flatten();
  EXPECT_EQ(bytes.size(), size);
  ASSERT_EQ(rope.pieces().size(), 3u);
  EXPECT_EQ(rope.pieces()[1].chunk, large);

  for (size_t cut : {bytes.size(), size_t{1}, size_t{7}, size_t{1000}}) {
    const auto message = ParseInsertRequest(Cut(bytes, cut), Limits());
    ASSERT_TRUE(message.ok()) << message.status();
    ASSERT_EQ(message->chunks.size(), 2u);
    EXPECT_EQ(message->chunks[0]->bytes(), small->bytes());
    EXPECT_EQ(message->chunks[1]->bytes(), large->bytes());
    EXPECT_EQ(message->chunks[1]->key(), 2u);
    EXPECT_THAT(message->keep_chunk_keys,
                ElementsAre(1, 2, std::numeric_limits<uint64_t>::max()));
    EXPECT_EQ(message->wait_ms, 1500);
    ASSERT_EQ(message->items.size(), 2u);
    const ItemMessage& item = message->items[0];
    EXPECT_EQ(item.key, 99u);
    EXPECT_EQ(item.table, "table");
    EXPECT_TRUE(std::signbit(item.priority));
    EXPECT_EQ(item.extra, structure);
    EXPECT_FALSE(item.has_empty_column);
    ASSERT_EQ(item.slices.size(), 3u);
    EXPECT_EQ(item.slices[0].chunk_key, 2u);
    EXPECT_EQ(item.slices[0].length, 2);
    EXPECT_FALSE(item.slices[0].ends_column);
    EXPECT_EQ(item.slices[1].offset, 2);
    EXPECT_TRUE(item.slices[1].ends_column);
    EXPECT_FALSE(item.slices[1].squeeze);
    EXPECT_TRUE(item.slices[2].ends_column);
    EXPECT_TRUE(item.slices[2].squeeze);
    EXPECT_EQ(message->items[1].table, "other");
    EXPECT_EQ(message->items[1].priority, 2.5);
    EXPECT_EQ(message->items[1].extra, "");
  }
}

TEST(InsertRequest, AnEmptyMessageAndUnknownFieldsAreFine) {
  EXPECT_TRUE(ParseInsertRequest({}, Limits()).ok());
  const auto message = Parse(Message([](pbf_writer& out) {
    out.add_uint64(1, 7);  // chunks, but as a number
    out.add_fixed32(3, 7);
    out.add_string(500, "?");
  }));
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_TRUE(message->chunks.empty());
  EXPECT_TRUE(message->keep_chunk_keys.empty());
  EXPECT_FALSE(message->wait_ms.has_value());
}

TEST(InsertRequest, ReadsKeysPackedAndUnpacked) {
  const std::vector<uint64_t> packed = {2, 300};
  const auto message = Parse(Message([&](pbf_writer& out) {
    out.add_uint64(3, 1);
    out.add_packed_uint64(3, packed.begin(), packed.end());
    out.add_uint64(3, uint64_t{1} << 63);
  }));
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_THAT(message->keep_chunk_keys,
              ElementsAre(1, 2, 300, uint64_t{1} << 63));
}

TEST(InsertRequest, ReadsItemSeqsPackedAndUnpacked) {
  const std::vector<uint64_t> packed = {2, 300};
  const auto message = Parse(Message([&](pbf_writer& out) {
    out.add_uint64(1000, 1);
    out.add_packed_uint64(1000, packed.begin(), packed.end());
  }));
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_THAT(message->item_seqs, ElementsAre(1, 2, 300));
  const auto malformed =
      Parse(Message([](pbf_writer& out) { out.add_string(1000, "\xff"); }));
  EXPECT_TRUE(absl::IsInvalidArgument(malformed.status()));
}

TEST(InsertRequest, AWaitOfZeroIsNotNoWait) {
  const auto message = Parse(
      Message([](pbf_writer& out) { out.add_message(1001, std::string()); }));
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(message->wait_ms, 0);
  const auto negative = Parse(Message([](pbf_writer& out) {
    pbf_writer wait(out, 1001);
    wait.add_int64(1, -5);
  }));
  EXPECT_EQ(negative.status().message(), "`wait` is negative: -5 ms");
}

TEST(InsertRequest, WhatOnlyServersSetIsIgnored) {
  const auto message = Parse(Message([](pbf_writer& out) {
    pbf_writer item(out, 2);
    item.add_int32(6, 100);
    pbf_writer inserted_at(item, 7);
    inserted_at.add_int64(1, 12345);
  }));
  EXPECT_TRUE(message.ok()) << message.status();
}

TEST(InsertRequest, MergesARepeatedTrajectory) {
  const auto message = Parse(Message([](pbf_writer& out) {
    pbf_writer item(out, 2);
    item.add_uint64(1, 1);
    item.add_message(8, Columns({Column({Slice(1, 0, 1, 0)})}) +
                            std::string("\xc2\x3e\x00", 3));  // structure
    item.add_uint64(1, 2);
    item.add_message(8, Columns({Column({Slice(2, 0, 1, 0)})}));
  }));
  ASSERT_TRUE(message.ok()) << message.status();
  const ItemMessage& item = message->items.at(0);
  EXPECT_EQ(item.key, 2u);
  ASSERT_EQ(item.slices.size(), 2u);
  EXPECT_EQ(item.slices[0].chunk_key, 1u);
  EXPECT_EQ(item.slices[1].chunk_key, 2u);
  EXPECT_EQ(item.extra, std::string("\xc2\x3e\x00", 3));
}

TEST(InsertRequest, NotesEmptyColumns) {
  const auto message =
      Parse(OneItem(Columns({Column({Slice(1, 0, 1, 0)}), Column({}, true)})));
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_TRUE(message->items.at(0).has_empty_column);
  EXPECT_EQ(message->items.at(0).slices.size(), 1u);
  EXPECT_FALSE(message->items.at(0).slices[0].squeeze);
}

TEST(InsertRequest, ErrorsNameTheItem) {
  const auto bad_name = Parse(Message([](pbf_writer& out) {
    out.add_message(2, std::string());
    pbf_writer item(out, 2);
    item.add_uint64(1, 77);
    item.add_string(2, "\xff\xfe");
  }));
  EXPECT_EQ(bad_name.status().message(),
            "item 1 (key 77): the name of its table is not UTF-8");
  const auto malformed = Parse(OneItem(Columns({"\x0a\x05"})));
  EXPECT_EQ(malformed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(malformed.status().message(),
            "item 0 (key 5): not a valid FlatTrajectory.Column: a length "
            "beyond the end of the message at byte 0");
}

void ExpectLimit(const absl::Status& status, absl::string_view text,
                 absl::string_view limit, absl::string_view actual) {
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(text)));
  const auto info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->limit, limit);
  EXPECT_EQ(info->actual, actual);
}

TEST(InsertRequest, KeepsToTheLimits) {
  Limits limits;
  limits.max_items_per_message = 3;
  limits.max_columns = 2;
  limits.max_slices_per_item = 4;
  auto items = [](int count) {
    return Message([&](pbf_writer& out) {
      for (int i = 0; i < count; ++i) out.add_message(2, std::string());
    });
  };
  EXPECT_TRUE(Parse(items(3), limits).ok());
  ExpectLimit(Parse(items(5), limits).status(),
              "too many items in one message: 5, of at most 3", "3", "5");

  const std::string column = Column({Slice(1, 0, 1, 0), Slice(1, 0, 1, 0)});
  EXPECT_TRUE(Parse(OneItem(Columns({column, column})), limits).ok());
  ExpectLimit(Parse(OneItem(Columns({column, "", ""})), limits).status(),
              "item 0 (key 5): too many columns in one item", "2", "3");
  const std::string long_column = Column(std::vector<std::string>(5));
  ExpectLimit(Parse(OneItem(Columns({long_column})), limits).status(),
              "too many chunk slices in one item", "4", "5");

  limits.max_message_bytes = 9;
  ExpectLimit(Parse(items(5), limits).status(), "bytes in one message", "9",
              "10");
}

TEST(InsertRequest, ABadChunkIsNamed) {
  const auto message = Parse(Message([](pbf_writer& out) {
    pbf_writer chunk(out, 1);
    chunk.add_uint64(1, 123);
  }));
  EXPECT_EQ(message.status().message(), "chunk 123: it holds no tensors");
}

TEST(InsertResponse, ComesBack) {
  const InsertDone done{{1, 0, std::numeric_limits<uint64_t>::max()}, {7}};
  const auto parsed = ParseInsertResponse(BuildInsertResponse(done));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->confirmed, done.confirmed);
  EXPECT_EQ(parsed->refused, done.refused);
  EXPECT_EQ(BuildInsertResponse({}), "");
  const auto unpacked = ParseInsertResponse(Message([](pbf_writer& out) {
    out.add_uint64(1, 4);
    out.add_uint64(1000, 5);
  }));
  ASSERT_TRUE(unpacked.ok());
  EXPECT_THAT(unpacked->confirmed, ElementsAre(4));
  EXPECT_THAT(unpacked->refused, ElementsAre(5));
  EXPECT_FALSE(ParseInsertResponse("\x0a\x01\xff").ok());
}

}  // namespace
}  // namespace reverb::wire
