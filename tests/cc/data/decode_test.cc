// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/data/decode.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reverb/cc/codec/snappy_block.h"
#include "reverb/cc/codec/string_content.h"
#include "reverb/cc/data/row_buffer.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/rng.h"

namespace reverb {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

std::string Compressed(absl::string_view raw) {
  std::string block;
  SnappyCompress(raw, block);
  return block;
}

// Chunks of one tensor each, with the content they borrow.
class Chunks {
 public:
  const ChunkView* Add(DType dtype, Dims dims, std::string content,
                       bool delta = false) {
    contents_.push_back(std::move(content));
    ChunkView& chunk = chunks_.emplace_back();
    chunk.delta_encoded = delta;
    EncodedTensorView& tensor = chunk.tensors.emplace_back();
    tensor.dtype = dtype;
    tensor.dims = std::move(dims);
    tensor.content = contents_.back();
    return &chunk;
  }
  const ChunkView* Add(EncodedTensor tensor, bool delta = false) {
    return Add(tensor.dtype, tensor.dims, std::move(tensor.content), delta);
  }
  // Rows of one byte each, compressed.
  const ChunkView* Bytes(absl::string_view rows) {
    return Add(DType::kUint8, {static_cast<int64_t>(rows.size())},
               Compressed(rows));
  }
  ChunkView& last() { return chunks_.back(); }

 private:
  std::deque<std::string> contents_;
  std::deque<ChunkView> chunks_;
};

SliceView Slice(const ChunkView* chunk, int32_t offset, int32_t length,
                int32_t index = 0) {
  return {chunk, offset, length, index};
}

ColumnView Column(std::initializer_list<SliceView> slices,
                  bool squeeze = false) {
  ColumnView column;
  column.slices = slices;
  column.squeeze = squeeze;
  return column;
}

absl::string_view DataOf(const Tensor& tensor) {
  return {tensor.data.data(), tensor.data.size()};
}

TEST(DecodeSample, JoinsSlicesInTheirOrderWithGapsAndRepeats) {
  Chunks chunks;
  const ChunkView* a = chunks.Bytes("abcdef");
  const ChunkView* b = chunks.Bytes("XY");
  const ColumnView column =
      Column({Slice(a, 4, 2), Slice(b, 0, 2), Slice(a, 0, 1), Slice(a, 2, 1),
              Slice(a, 2, 1), Slice(a, 0, 6), Slice(b, 1, 1)});
  const auto sample = DecodeSample({column});
  ASSERT_TRUE(sample.ok()) << sample.status();
  ASSERT_EQ(sample->size(), 1u);
  EXPECT_EQ((*sample)[0].dims, Dims{14});
  EXPECT_EQ(DataOf((*sample)[0]), "efXYaccabcdefY");
}

TEST(DecodeSample, ColumnsShareTensors) {
  Chunks chunks;
  const ChunkView* a = chunks.Bytes("aaaaaaaaaaaaabbbbbbbbbbbbb");
  const auto sample = DecodeSample(
      {Column({Slice(a, 0, 25)}), Column({Slice(a, 0, 26)}),
       Column({Slice(a, 1, 25)}), Column({Slice(a, 13, 1)}, true)});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(DataOf((*sample)[0]), "aaaaaaaaaaaaabbbbbbbbbbbb");
  EXPECT_EQ(DataOf((*sample)[1]), "aaaaaaaaaaaaabbbbbbbbbbbbb");
  EXPECT_EQ(DataOf((*sample)[2]), "aaaaaaaaaaaabbbbbbbbbbbbb");
  EXPECT_EQ(DataOf((*sample)[3]), "b");
}

TEST(DecodeSample, SqueezeDropsTheTimeAxis) {
  Chunks chunks;
  const ChunkView* a = chunks.Add(DType::kUint8, {2, 3}, Compressed("abcdef"));
  const auto sample = DecodeSample({Column({Slice(a, 1, 1)}, true)});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ((*sample)[0].dims, Dims{3});
  EXPECT_EQ(DataOf((*sample)[0]), "def");
}

TEST(DecodeSample, FindsTensorsByTheirIndex) {
  Chunks chunks;
  chunks.Bytes("abc");
  chunks.Bytes("xyz");
  EncodedTensorView second = chunks.last().tensors[0];
  ChunkView both;
  both.tensors = {second, second};
  both.tensors[1].dtype = DType::kInt8;
  const auto sample = DecodeSample({Column({Slice(&both, 1, 2, 1)})});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ((*sample)[0].dtype, DType::kInt8);
  EXPECT_EQ(DataOf((*sample)[0]), "yz");
}

TEST(DecodeSample, UndoesDeltaBeforeSlicing) {
  Chunks chunks;
  // Rows (1, 2), (2, 4), (3, 6).
  const ChunkView* a =
      chunks.Add(DType::kUint8, {3, 2}, Compressed("\1\2\1\2\1\2"), true);
  const auto sample = DecodeSample({Column({Slice(a, 2, 1), Slice(a, 0, 3)})});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(DataOf((*sample)[0]), "\3\6\1\2\2\4\3\6");
}

TEST(DecodeSample, DeltaLeavesScalarsFloatsAndStringsAlone) {
  Chunks chunks;
  const ChunkView* scalars =
      chunks.Add(DType::kUint8, {2}, Compressed("ab"), true);
  const ChunkView* bools =
      chunks.Add(DType::kBool, {2, 1}, Compressed("\1\1"), true);
  const auto sample = DecodeSample(
      {Column({Slice(scalars, 0, 2)}), Column({Slice(bools, 1, 1)})});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(DataOf((*sample)[0]), "ab");
  EXPECT_EQ(DataOf((*sample)[1]), "\1");
}

TEST(DecodeSample, DeltaWithoutRowsIsEmpty) {
  Chunks chunks;
  const ChunkView* a =
      chunks.Add(DType::kInt32, {0, 3}, std::string(1, '\0'), true);
  const ChunkView* b = chunks.Add(DType::kInt32, {0, 3}, "", true);
  const auto sample = DecodeSample({Column({Slice(a, 0, 0), Slice(b, 0, 0)})});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ((*sample)[0].dims, (Dims{0, 3}));
  EXPECT_EQ((*sample)[0].data.size(), 0u);
}

TEST(DecodeSample, CellsOfSizeZero) {
  Chunks chunks;
  const ChunkView* a = chunks.Add(DType::kFloat32, {4, 0, 3}, "");
  const ChunkView* b =
      chunks.Add(DType::kFloat32, {2, 0, 3}, std::string(1, '\0'));
  const auto sample = DecodeSample({Column({Slice(a, 1, 3), Slice(b, 0, 2)})});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ((*sample)[0].dims, (Dims{5, 0, 3}));
}

TEST(DecodeSample, BoolsBecomeZeroOrOne) {
  Chunks chunks;
  const ChunkView* a =
      chunks.Add(DType::kBool, {20},
                 Compressed(std::string(
                     "\1\0\1\0\1\0\1\0\1\2\xff\0\1\0\0\0\0\0\0\x80", 20)));
  const auto sample = DecodeSample({Column({Slice(a, 0, 20)})});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(DataOf((*sample)[0]),
            std::string("\1\0\1\0\1\0\1\0\1\1\1\0\1\0\0\0\0\0\0\1", 20));
}

TEST(DecodeSample, StringsInContentOrInValues) {
  Chunks chunks;
  std::string content;
  EncodeStrings({"a", "", "ccc", "d"}, content);
  const ChunkView* a = chunks.Add(DType::kString, {2, 2}, content);
  const ChunkView* b = chunks.Add(DType::kString, {1, 2}, "");
  chunks.last().tensors[0].string_values = {"e", "f"};
  const ChunkView* empty = chunks.Add(DType::kString, {0, 2}, "");
  const auto sample = DecodeSample({Column(
      {Slice(b, 0, 1), Slice(a, 1, 1), Slice(empty, 0, 0), Slice(a, 0, 2)})});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ((*sample)[0].dims, (Dims{4, 2}));
  EXPECT_EQ(
      (*sample)[0].strings,
      (std::vector<std::string>{"e", "f", "ccc", "d", "a", "", "ccc", "d"}));
}

TEST(DecodeSample, NoColumnsAreAnEmptySample) {
  const auto sample = DecodeSample({});
  ASSERT_TRUE(sample.ok());
  EXPECT_TRUE(sample->empty());
}

TEST(DecodeSample, ManySlicesOfManyChunks) {
  Rng rng(5);
  Chunks chunks;
  std::vector<std::pair<const ChunkView*, std::string>> all;
  for (int i = 0; i < 100; ++i) {
    std::string rows(1 + rng.NextBelow(40), static_cast<char>('a' + i % 26));
    all.emplace_back(chunks.Bytes(rows), rows);
  }
  ColumnView column;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    const auto& [chunk, rows] = all[rng.NextBelow(all.size())];
    const auto offset = static_cast<int32_t>(rng.NextBelow(rows.size()));
    const auto length =
        static_cast<int32_t>(rng.NextBelow(rows.size() - offset + 1));
    column.slices.push_back(Slice(chunk, offset, length));
    expected += rows.substr(offset, length);
  }
  const auto sample = DecodeSample({column});
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_TRUE(DataOf((*sample)[0]) == expected);
}

// What poisons a reader: every row of the table is refused, by a status that
// names the column.
struct Poison {
  const char* name;
  StatusCode code;
  std::function<ColumnView(Chunks&)> make;
};

void PrintTo(const Poison& poison, std::ostream* out) { *out << poison.name; }

ColumnView Whole(const ChunkView* chunk, int32_t rows = 1) {
  return Column({Slice(chunk, 0, rows)});
}

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr StatusCode kLoss = StatusCode::kDataLoss;

const Poison kPoisons[] = {
    {"NegativeLength", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 1, -1)}); }},
    {"NegativeOffset", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), -1, 1)}); }},
    {"OffsetPlusLengthOverflows", kInvalid,
     [](Chunks& c) {
       return Column({Slice(c.Bytes("abc"), INT32_MAX, INT32_MAX)});
     }},
    {"OffsetOutOfRange", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 3, 1)}); }},
    {"OffsetOutOfRangeWithoutRows", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 4, 0)}); }},
    {"LengthOutOfRange", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 0, 4)}); }},
    {"RankZero", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {}, Compressed("a")));
     }},
    {"RankTooHigh", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, Dims(300, 1), Compressed("a")));
     }},
    {"NegativeRows", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {-1}, Compressed("a")), 0);
     }},
    {"NegativeDimension", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {1, -1}, Compressed("a")));
     }},
    {"InvalidDtype", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(DType::kInvalid, {1}, Compressed("a")));
     }},
    {"ResourceDtype", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(static_cast<DType>(20), {1}, Compressed("a")));
     }},
    {"VariantDtype", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(static_cast<DType>(21), {1}, Compressed("a")));
     }},
    {"UnknownDtype", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(static_cast<DType>(99), {1}, Compressed("a")));
     }},
    {"HugeDimension", StatusCode::kResourceExhausted,
     [](Chunks& c) {
       return Whole(
           c.Add(DType::kUint8, {1, int64_t{1} << 40}, Compressed("a")));
     }},
    {"HugeDimensionOfStrings", StatusCode::kResourceExhausted,
     [](Chunks& c) {
       return Whole(c.Add(DType::kString, {1, int64_t{1} << 40}, "a"));
     }},
    {"ShapeOverflows", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8,
                          {1, int64_t{1} << 40, int64_t{1} << 40},
                          Compressed("a")));
     }},
    {"ShapeOverflowsBesideAZero", kInvalid,
     [](Chunks& c) {
       return Whole(
           c.Add(DType::kUint8, {0, int64_t{1} << 40, int64_t{1} << 40}, ""),
           0);
     }},
    {"BytesOverflow", kInvalid,
     [](Chunks& c) {
       return Whole(
           c.Add(DType::kComplex128, {1, int64_t{1} << 60}, Compressed("a")));
     }},
    {"RowsOfADeltaWithoutRows", kInvalid,
     [](Chunks& c) {
       return Whole(c.Add(DType::kInt32, {0, 3}, std::string(1, '\0'), true));
     }},
    {"DifferentRowShapes", kInvalid,
     [](Chunks& c) {
       const auto* a = c.Add(DType::kUint8, {1, 2}, Compressed("ab"));
       const auto* b = c.Add(DType::kUint8, {1, 3}, Compressed("abc"));
       return Column({Slice(a, 0, 1), Slice(b, 0, 1)});
     }},
    {"DifferentRanks", kInvalid,
     [](Chunks& c) {
       const auto* a = c.Add(DType::kUint8, {1, 1}, Compressed("a"));
       const auto* b = c.Add(DType::kUint8, {1}, Compressed("b"));
       return Column({Slice(a, 0, 1), Slice(b, 0, 1)});
     }},
    {"DifferentDtypes", kInvalid,
     [](Chunks& c) {
       const auto* a = c.Add(DType::kUint8, {1}, Compressed("a"));
       const auto* b = c.Add(DType::kInt8, {1}, Compressed("b"));
       return Column({Slice(a, 0, 1), Slice(b, 0, 1)});
     }},
    {"StringsThatDoNotParse", kLoss,
     [](Chunks& c) { return Whole(c.Add(DType::kString, {1}, "\x05zz")); }},
    {"StringsWithBytesLeft", kLoss,
     [](Chunks& c) { return Whole(c.Add(DType::kString, {1}, "\x01zz")); }},
    {"TooFewStringValues", kLoss,
     [](Chunks& c) {
       const auto* a = c.Add(DType::kString, {2}, "");
       c.last().tensors[0].string_values = {"a"};
       return Whole(a);
     }},
    {"TooManyStringValues", kLoss,
     [](Chunks& c) {
       const auto* a = c.Add(DType::kString, {1}, "");
       c.last().tensors[0].string_values = {"a", "b"};
       return Whole(a);
     }},
    {"SnappyWithoutPreamble", kLoss,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {1}, "\xff\xff\xff\xff\xff\xff"));
     }},
    {"SnappyWithBadElements", kLoss,
     [](Chunks& c) {
       // A copy from before the beginning.
       return Whole(c.Add(DType::kUint8, {4}, std::string("\x04\x01\x09", 3)),
                    4);
     }},
    {"SnappyWithBadElementsInPart", kLoss,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {4}, std::string("\x04\x01\x09", 3)),
                    2);
     }},
    {"SnappyCutShort", kLoss,
     [](Chunks& c) {
       std::string block = Compressed("abcd");
       block.pop_back();
       return Whole(c.Add(DType::kUint8, {4}, block), 4);
     }},
    {"SnappyTooShort", kLoss,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {4}, Compressed("abc")), 4);
     }},
    {"SnappyTooLong", kLoss,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {4}, Compressed("abcde")), 4);
     }},
    {"SnappyTooLongForNothing", kLoss,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {4, 0}, Compressed("a")), 4);
     }},
    {"SnappyBomb", kLoss,
     [](Chunks& c) {
       return Whole(c.Add(DType::kUint8, {1 << 30},
                          std::string("\x80\x80\x80\x80\x04\0\0", 7)));
     }},
    {"TypedFieldsWithoutContent", kLoss,
     [](Chunks& c) { return Whole(c.Add(DType::kInt32, {1}, "")); }},
    {"NegativeIndex", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 0, 1, -1)}); }},
    {"IndexOutOfRange", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 0, 1, 1)}); }},
    {"ChunkWithoutTensors", kInvalid,
     [](Chunks& c) {
       const auto* a = c.Bytes("abc");
       c.last().tensors.clear();
       return Whole(a);
     }},
    {"MissingChunk", kInvalid, [](Chunks&) { return Whole(nullptr); }},
    {"EmptyColumn", kInvalid, [](Chunks&) { return Column({}); }},
    {"SqueezeOfTwo", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 0, 2)}, true); }},
    {"SqueezeOfNone", kInvalid,
     [](Chunks& c) { return Column({Slice(c.Bytes("abc"), 0, 0)}, true); }},
};

class DecodePoison : public ::testing::TestWithParam<Poison> {};

TEST_P(DecodePoison, IsRefusedByAStatusThatNamesTheColumn) {
  Chunks chunks;
  const ColumnView good = Whole(chunks.Bytes("good"), 4);
  const ColumnView bad = GetParam().make(chunks);
  const absl::Status status = DecodeSample({good, bad}).status();
  EXPECT_EQ(status.code(), GetParam().code) << status;
  EXPECT_THAT(status.message(), HasSubstr("column 1: "));
  const auto info = GetErrorInfo(status);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->column, "1");
  EXPECT_TRUE(DecodeSample({good}).ok());
}

INSTANTIATE_TEST_SUITE_P(All, DecodePoison, ::testing::ValuesIn(kPoisons),
                         [](const auto& info) { return info.param.name; });

StatusCode CodeWith(const DecodeLimits& limits, const ColumnView& column) {
  return DecodeSample({column}, limits).status().code();
}

TEST(DecodeLimits, BoundTensorsAndSamples) {
  Chunks chunks;
  const ChunkView* a =
      chunks.Add(DType::kUint8, {2, 500}, Compressed(std::string(1000, 'a')));
  EXPECT_EQ(CodeWith({1000, 1000}, Whole(a, 2)), StatusCode::kOk);
  EXPECT_EQ(CodeWith({999, 1000}, Whole(a, 2)), StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeWith({1000, 999}, Whole(a, 2)), StatusCode::kResourceExhausted);
  // Half of the tensor and all of it to take the half from.
  EXPECT_EQ(CodeWith({1000, 1500}, Whole(a, 1)), StatusCode::kOk);
  EXPECT_EQ(CodeWith({1000, 1499}, Whole(a, 1)),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeWith({1000, 2000}, Column({Slice(a, 0, 2), Slice(a, 0, 2)})),
            StatusCode::kOk);
  EXPECT_EQ(CodeWith({1000, 1999}, Column({Slice(a, 0, 2), Slice(a, 0, 2)})),
            StatusCode::kResourceExhausted);
}

TEST(DecodeLimits, CountWhatIsDecodedAsideOnlyWhileItIsNeeded) {
  Chunks chunks;
  ColumnView column;
  for (int i = 0; i < 10; ++i) {
    const ChunkView* a =
        chunks.Add(DType::kUint8, {1000}, Compressed(std::string(1000, 'a')));
    column.slices.push_back(Slice(a, 0, 1));
    column.slices.push_back(Slice(a, 500, 1));
  }
  EXPECT_EQ(CodeWith({1000, 1020}, column), StatusCode::kOk);
}

TEST(DecodeLimits, BoundStrings) {
  Chunks chunks;
  std::string content;
  EncodeStrings({std::string(1000, 'a')}, content);
  const ChunkView* a = chunks.Add(DType::kString, {1}, content);
  EXPECT_EQ(CodeWith({2000, 2000}, Whole(a)), StatusCode::kOk);
  EXPECT_EQ(CodeWith({1000, 2000}, Whole(a)), StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeWith({2000, 1000}, Whole(a)), StatusCode::kResourceExhausted);
}

TEST(DecodeLimits, ARepeatedSliceIsNoWayAround) {
  Chunks chunks;
  const ChunkView* a = chunks.Add(DType::kUint8, {1, 1 << 20},
                                  Compressed(std::string(1 << 20, 'a')));
  ColumnView column;
  column.slices.assign(100'000, Slice(a, 0, 1));
  EXPECT_EQ(CodeWith({}, column), StatusCode::kResourceExhausted);
}

constexpr DType kAllTypes[] = {
    DType::kFloat32,    DType::kFloat64,      DType::kInt32,
    DType::kUint8,      DType::kInt16,        DType::kInt8,
    DType::kString,     DType::kComplex64,    DType::kInt64,
    DType::kBool,       DType::kQint8,        DType::kQuint8,
    DType::kQint32,     DType::kBfloat16,     DType::kQint16,
    DType::kQuint16,    DType::kUint16,       DType::kComplex128,
    DType::kFloat16,    DType::kUint32,       DType::kUint64,
    DType::kFloat8E5m2, DType::kFloat8E4m3fn, DType::kInt4,
    DType::kUint4};

// One cell as bytes or strings, of random content that compresses or doesn't.
struct Cell {
  std::string data;
  std::vector<std::string> strings;
};

Cell RandomCell(Rng& rng, DType dtype, int64_t elements) {
  Cell cell;
  if (dtype == DType::kString) {
    for (int64_t i = 0; i < elements; ++i) {
      cell.strings.emplace_back(rng.NextBelow(40),
                                static_cast<char>(rng.Next()));
    }
    return cell;
  }
  cell.data.resize(static_cast<size_t>(elements) * ElementSize(dtype));
  const bool plain = rng.NextBelow(2) == 0;
  for (char& byte : cell.data) {
    byte = static_cast<char>(plain ? 1 : rng.Next());
    if (dtype == DType::kBool) byte &= 1;
  }
  return cell;
}

// Columns written through RowBuffer and read back in random slices.
class RoundTrip : public ::testing::TestWithParam<DType> {};

TEST_P(RoundTrip, RandomSlicesOfRandomRows) {
  const DType dtype = GetParam();
  const auto seed = static_cast<uint64_t>(dtype);
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (int round = 0; round < 40; ++round) {
    Dims dims;
    for (uint64_t rank = rng.NextBelow(4); rank > 0; --rank) {
      dims.push_back(static_cast<int64_t>(rng.NextBelow(6)));
    }
    const int64_t elements = *NumElements(dims);
    const bool delta = rng.NextBelow(2) == 0;
    Chunks chunks;
    std::vector<const ChunkView*> views;
    std::vector<std::vector<Cell>> cells;
    RowBuffer buffer;
    for (int i = 0; i < 3; ++i) {
      auto& rows = cells.emplace_back();
      for (uint64_t n = 1 + rng.NextBelow(30); n > 0; --n) {
        rows.push_back(RandomCell(rng, dtype, elements));
        const std::vector<absl::string_view> strings(
            rows.back().strings.begin(), rows.back().strings.end());
        TensorView view;
        view.dtype = dtype;
        view.dims = dims;
        view.data = rows.back().data;
        view.strings = strings;
        ASSERT_TRUE(buffer.Check(view).ok()) << buffer.Check(view);
        buffer.Append(view);
      }
      views.push_back(chunks.Add(buffer.Encode(delta), delta));
      buffer.Clear();
    }
    ColumnView column;
    std::string data;
    std::vector<std::string> strings;
    int64_t total = 0;
    for (uint64_t n = 1 + rng.NextBelow(6); n > 0; --n) {
      const size_t i = rng.NextBelow(views.size());
      const auto& rows = cells[i];
      const bool whole = rng.NextBelow(3) == 0;
      const size_t offset = whole ? 0 : rng.NextBelow(rows.size());
      const size_t length =
          whole ? rows.size() : 1 + rng.NextBelow(rows.size() - offset);
      column.slices.push_back(Slice(views[i], static_cast<int32_t>(offset),
                                    static_cast<int32_t>(length)));
      total += static_cast<int64_t>(length);
      for (size_t row = offset; row < offset + length; ++row) {
        data += rows[row].data;
        strings.insert(strings.end(), rows[row].strings.begin(),
                       rows[row].strings.end());
      }
    }
    const auto sample = DecodeSample({column, column});
    ASSERT_TRUE(sample.ok()) << sample.status();
    dims.insert(dims.begin(), total);
    for (const Tensor& tensor : *sample) {
      EXPECT_EQ(tensor.dtype, dtype);
      EXPECT_EQ(tensor.dims, dims);
      EXPECT_TRUE(DataOf(tensor) == data);
      EXPECT_EQ(tensor.strings, strings);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, RoundTrip, ::testing::ValuesIn(kAllTypes),
                         [](const auto& info) {
                           return std::string(DTypeName(info.param));
                         });

TEST(DecodeSample, DamagedContentIsAStatusOrOtherData) {
  Rng rng(6);
  for (int round = 0; round < 2000; ++round) {
    const bool is_string = rng.NextBelow(3) == 0;
    std::string content;
    if (is_string) {
      EncodeStrings({"one", "two", std::string(200, 'x'), ""}, content);
    } else {
      content = Compressed("aaaaaaaabbbbbbbbaaaaaaaacccccccccccccccc");
    }
    if (rng.NextBelow(2) == 0) {
      content.resize(rng.NextBelow(content.size()));
    } else {
      content[rng.NextBelow(content.size())] ^=
          static_cast<char>(1 << rng.NextBelow(8));
    }
    Chunks chunks;
    const ChunkView* a = chunks.Add(is_string ? DType::kString : DType::kInt16,
                                    is_string ? Dims{4} : Dims{4, 5}, content,
                                    rng.NextBelow(2) == 0);
    const auto sample =
        DecodeSample({Column({Slice(a, 1, 2)}), Column({Slice(a, 0, 4)})});
    if (!sample.ok()) continue;
    EXPECT_EQ((*sample)[1].data.size(), is_string ? 0u : 40u);
    EXPECT_EQ((*sample)[1].strings.size(), is_string ? 4u : 0u);
  }
}

}  // namespace
}  // namespace reverb
