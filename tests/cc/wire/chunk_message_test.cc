// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// ChunkData.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reverb/cc/codec/string_content.h"
#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/field_reader.h"
#include "tests/cc/wire/test_messages.h"

namespace reverb::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Shape(std::initializer_list<int64_t> dims) {
  return Message([&](pbf_writer& out) {
    for (int64_t dim : dims) {
      pbf_writer sub(out, 2);
      sub.add_int64(1, dim);  // zeros too: an empty one would be dropped
    }
  });
}

std::string Snappy(size_t raw_size) {
  std::string content;
  SnappyStore(std::string(raw_size, 'v'), content);
  return content;
}

std::string TensorBytes(int dtype, std::initializer_list<int64_t> dims,
                        absl::string_view content) {
  return Message([&](pbf_writer& out) {
    out.add_enum(1, dtype);
    out.add_message(2, Shape(dims));
    out.add_bytes(4, content.data(), content.size());
  });
}

std::string ChunkBytes(std::vector<std::string> tensors) {
  return Message([&](pbf_writer& out) {
    out.add_uint64(1, 42);
    out.add_message(5, Message([&](pbf_writer& data) {
                      for (const std::string& tensor : tensors) {
                        data.add_message(1, tensor);
                      }
                    }));
  });
}

std::string ParseError(const std::string& bytes) {
  const auto chunk = ParseChunkBytes(bytes);
  EXPECT_FALSE(chunk.ok());
  EXPECT_EQ(chunk.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(chunk.status().message());
}

TEST(ParseChunk, TakesTheHeaderAndKeepsTheBytes) {
  std::string bytes = ChunkBytes(
      {TensorBytes(3, {3}, Snappy(12)), TensorBytes(1, {5, 2}, Snappy(40))});
  bytes += Message([](pbf_writer& out) {
    pbf_writer range(out, 2);
    range.add_uint64(1, 77);
    range.add_int32(2, 4);
    range.add_int32(3, 6);
    range.add_bool(4, true);
  });
  bytes += Message([](pbf_writer& out) {
    out.add_bool(4, true);
    out.add_string(1000, "something new");  // survives
  });
  const auto chunk = ParseChunkBytes(bytes);
  ASSERT_TRUE(chunk.ok()) << chunk.status();
  EXPECT_EQ((*chunk)->key(), 42u);
  EXPECT_EQ((*chunk)->range(), (SequenceRange{77, 4, 6, true}));
  EXPECT_TRUE((*chunk)->delta_encoded());
  EXPECT_THAT((*chunk)->tensor_rows(), ElementsAre(3, 5));
  EXPECT_EQ((*chunk)->bytes(), bytes);
}

TEST(ParseChunk, MergesRepeatedMessagesAndTakesTheLastScalar) {
  std::string bytes = ChunkBytes({TensorBytes(3, {3}, Snappy(12))});
  bytes += Message([](pbf_writer& out) {
    out.add_uint64(1, 43);
    {
      pbf_writer range(out, 2);
      range.add_uint64(1, 9);
      range.add_int32(2, 1);
    }
    pbf_writer range(out, 2);
    range.add_int32(2, 5);
  });
  bytes += ChunkBytes({TensorBytes(3, {4}, Snappy(16))});
  const auto chunk = ParseChunkBytes(bytes);
  ASSERT_TRUE(chunk.ok()) << chunk.status();
  EXPECT_EQ((*chunk)->key(), 42u);
  EXPECT_EQ((*chunk)->range(), (SequenceRange{9, 5, 0, false}));
  EXPECT_THAT((*chunk)->tensor_rows(), ElementsAre(3, 4));
}

TEST(ParseChunk, AShapeInTwoPartsIsOneShape) {
  const std::string tensor = Message([](pbf_writer& out) {
    out.add_enum(1, 3);
    out.add_message(2, Shape({2}));
    out.add_message(2, Shape({3}));
    out.add_bytes(4, Snappy(24));
  });
  EXPECT_TRUE(ParseChunkBytes(ChunkBytes({tensor})).ok());
}

TEST(ParseChunk, ReadsTensorsWhereOldChunksHaveThem) {
  const std::string bytes = Message([](pbf_writer& out) {
    out.add_message(3, TensorBytes(3, {3}, Snappy(12)));
    out.add_message(3, TensorBytes(3, {4}, Snappy(16)));
  });
  const auto chunk = ParseChunkBytes(bytes);
  ASSERT_TRUE(chunk.ok()) << chunk.status();
  EXPECT_THAT((*chunk)->tensor_rows(), ElementsAre(3, 4));
  EXPECT_THAT(ParseError(bytes + ChunkBytes({})), HasSubstr("deprecated_data"));
}

TEST(ParseChunk, RefusesTensorsThatDeceiveReaders) {
  auto error = [](int dtype, std::initializer_list<int64_t> dims,
                  absl::string_view content) {
    return ParseError(ChunkBytes({TensorBytes(dtype, dims, content)}));
  };
  EXPECT_EQ(error(0, {3}, Snappy(12)),
            "chunk 42: tensor 0: no tensor can have the dtype number 0");
  EXPECT_THAT(error(20, {3}, Snappy(12)), HasSubstr("dtype number 20"));
  EXPECT_THAT(error(21, {3}, Snappy(12)), HasSubstr("dtype number 21"));
  EXPECT_THAT(error(101, {3}, Snappy(12)), HasSubstr("dtype number 101"));
  EXPECT_THAT(error(-1, {3}, Snappy(12)), HasSubstr("dtype number -1"));
  EXPECT_THAT(error(3, {}, Snappy(4)), HasSubstr("at least one dimension"));
  EXPECT_THAT(error(3, {3, -1}, Snappy(12)), HasSubstr("impossible shape"));
  EXPECT_THAT(error(3, {int64_t{1} << 40, int64_t{1} << 40}, Snappy(12)),
              HasSubstr("impossible shape"));
  EXPECT_THAT(error(3, {int64_t{1} << 31, 0}, Snappy(0)),
              HasSubstr("more rows than can be referred to: 2147483648"));
  EXPECT_EQ(error(3, {3, 2}, Snappy(12)),
            "chunk 42: tensor 0: int32 (3, 2) with content of another size: "
            "12 bytes");
  // 2^62 elements of 4 bytes: the product of all is 0 modulo 2^64.
  EXPECT_THAT(error(3, {1 << 30, int64_t{1} << 32}, Snappy(0)),
              HasSubstr("content of another size"));
  EXPECT_THAT(error(3, {3}, "\xff\xff\xff"), HasSubstr("another size"));
  EXPECT_THAT(error(3, {3}, ""), HasSubstr("without tensor_content"));
  EXPECT_THAT(ParseError(ChunkBytes({})), HasSubstr("holds no tensors"));
  EXPECT_THAT(ParseError(ChunkBytes({Message([](pbf_writer& out) {
                out.add_enum(1, 3);
                pbf_writer shape(out, 2);
                shape.add_bool(3, true);
              })})),
              HasSubstr("at least one dimension"));
}

TEST(ParseChunk, TakesEmptyTensorsAndStrings) {
  for (const std::string& tensor :
       {TensorBytes(3, {0}, Snappy(0)), TensorBytes(3, {0, 5}, ""),
        TensorBytes(3, {5, 0}, Snappy(0)),
        // The payload of strings is for readers to check.
        TensorBytes(7, {5}, "anything"), TensorBytes(29, {5}, Snappy(5))}) {
    const auto chunk = ParseChunkBytes(ChunkBytes({tensor}));
    EXPECT_TRUE(chunk.ok()) << chunk.status();
  }
}

TEST(ParseChunk, BoundsRankAndNumberOfTensors) {
  std::string dims;
  for (int i = 0; i < 255; ++i) dims += Shape({1});
  EXPECT_THAT(ParseError(ChunkBytes({Message([&](pbf_writer& out) {
                out.add_enum(1, 4);
                out.add_message(2, dims);
                out.add_bytes(4, Snappy(1));
              })})),
              HasSubstr("more than 254 dimensions"));
  std::string many;
  for (int i = 0; i <= 1'000'000; ++i) many += std::string("\x1a\x00", 2);
  EXPECT_EQ(ParseChunkView(many).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ParseChunkView, BorrowsContentsAndStrings) {
  std::string bytes = ChunkBytes({TensorBytes(1, {2, 3}, Snappy(24))});
  bytes += ChunkBytes({Message([](pbf_writer& out) {
    out.add_enum(1, 7);
    out.add_message(2, Shape({2}));
    out.add_bytes(8, "a");
    out.add_bytes(8, "bc");
  })});
  const auto view = ParseChunkView(bytes);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->key, 42u);
  ASSERT_EQ(view->tensors.size(), 2u);
  EXPECT_EQ(view->tensors[0].dtype, DType::kFloat32);
  EXPECT_EQ(view->tensors[0].dims, (Dims{2, 3}));
  EXPECT_EQ(view->tensors[0].content, Snappy(24));
  EXPECT_GE(view->tensors[0].content.data(), bytes.data());
  EXPECT_LT(view->tensors[0].content.data(), bytes.data() + bytes.size());
  EXPECT_THAT(view->tensors[1].string_values, ElementsAre("a", "bc"));
}

TEST(BuildChunk, LeavesOutZeros) {
  const EncodedTensor tensor = Int32Rows(0);
  const Ref<const Chunk> chunk =
      BuildChunk(0, SequenceRange{}, false, {&tensor, 1});
  const std::string expected(
      "\x12\x00"          // sequence_range
      "\x2a\x0b\x0a\x09"  // data.tensors
      "\x08\x03"          // dtype
      "\x12\x02\x12\x00"  // shape with one dimension of 0
      "\x22\x01\x00"      // content
      "\x30\x01",         // data_tensors_len
      17);
  EXPECT_EQ(chunk->bytes(), expected);
}

// The chunks in a message, wherever they are.
void FindChunks(const RecordedMessage& message,
                std::vector<absl::string_view>& chunks) {
  FieldReader in(message.bytes);
  const bool insert = message.Is("InsertStream", "req");
  while (in.Next()) {
    if (in.tag() != Tag(1, kBytes)) continue;
    if (insert) {
      chunks.push_back(in.bytes());
      continue;
    }
    FieldReader entry(in.bytes());
    while (entry.Next()) {
      if (entry.tag() == Tag(2, kBytes)) chunks.push_back(entry.bytes());
    }
  }
}

// As data_uncompressed_size counts it: a string takes 24 bytes and its own.
int64_t RawBytes(const EncodedTensorView& tensor) {
  const int64_t elements = *NumElements(tensor.dims);
  if (tensor.dtype != DType::kString) {
    return elements * static_cast<int64_t>(ElementSize(tensor.dtype));
  }
  int64_t result = elements * 24;
  const auto strings = DecodeStrings(elements, tensor.content);
  EXPECT_TRUE(strings.ok());
  for (absl::string_view value : *strings) {
    result += static_cast<int64_t>(value.size());
  }
  return result;
}

TEST(BuildChunk, WritesTheBytesOfDmReverb) {
  int count = 0;
  for (const RecordedMessage& message : RecordedMessages()) {
    if (!message.Is("InsertStream", "req") &&
        !message.Is("SampleStream", "resp")) {
      continue;
    }
    std::vector<absl::string_view> chunks;
    FindChunks(message, chunks);
    for (absl::string_view bytes : chunks) {
      const auto parsed = ParseChunkBytes(bytes);
      ASSERT_TRUE(parsed.ok()) << message.name << ": " << parsed.status();
      const auto view = ParseChunkView(bytes);
      ASSERT_TRUE(view.ok()) << message.name << ": " << view.status();
      std::vector<EncodedTensor> tensors;
      for (const EncodedTensorView& tensor : view->tensors) {
        EncodedTensor& copy = tensors.emplace_back();
        copy.dtype = tensor.dtype;
        copy.dims = tensor.dims;
        copy.content = std::string(tensor.content);
        copy.raw_bytes = RawBytes(tensor);
      }
      const Ref<const Chunk> built =
          BuildChunk(view->key, view->range, view->delta_encoded, tensors);
      EXPECT_EQ(built->bytes(), bytes) << message.name;
      EXPECT_EQ(built->tensor_rows(), (*parsed)->tensor_rows());
      ++count;
    }
  }
  EXPECT_GT(count, 50);
}

}  // namespace
}  // namespace reverb::wire
