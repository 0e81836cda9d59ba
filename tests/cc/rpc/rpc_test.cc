// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/rpc/byte_buffer.h"
#include "reverb/cc/rpc/metadata.h"
#include "reverb/cc/rpc/runtime.h"
#include "reverb/cc/rpc/status.h"
#include "reverb/cc/support/error_info.h"

namespace reverb::rpc {
namespace {

TEST(Status, CodesAndTextsMapOneToOne) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "text");
    const grpc::Status sent = ToGrpcStatus(status);
    EXPECT_EQ(sent.error_code(), code);
    EXPECT_EQ(FromGrpcStatus(sent, {}), status);
  }
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_TRUE(FromGrpcStatus(grpc::Status::OK, {}).ok());
}

TEST(Status, ErrorInfoTravelsInTheTrailers) {
  const absl::Status status = WithErrorInfo(
      absl::InvalidArgumentError("text"),
      {.table = "t", .column = "a/b", .limit = "1", .actual = "2"});
  const auto trailer = ErrorInfoTrailer(status);
  ASSERT_TRUE(trailer.has_value());
  Metadata trailers;
  trailers.emplace(kErrorInfoKey, *trailer);
  const absl::Status received = FromGrpcStatus(ToGrpcStatus(status), trailers);
  const auto info = GetErrorInfo(received);
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->table, "t");
  EXPECT_EQ(info->column, "a/b");
  EXPECT_EQ(info->limit, "1");
  EXPECT_EQ(info->actual, "2");
}

TEST(Status, BrokenTrailersAreIgnored) {
  Metadata trailers;
  trailers.emplace(kErrorInfoKey, "\xff\xff");
  const absl::Status status = FromGrpcStatus(
      grpc::Status(grpc::StatusCode::NOT_FOUND, "text"), trailers);
  EXPECT_EQ(status, absl::NotFoundError("text"));
}

TEST(Status, TextsFitIntoAHeader) {
  for (const std::string unit : {"x", "\n", "\xc3\xa9", "\xe2\x82\xac"}) {
    std::string text;
    while (text.size() < 10'000) text += unit;
    const std::string sent =
        ToGrpcStatus(absl::InternalError(text)).error_message();
    EXPECT_GT(sent.size(), 1000u);
    EXPECT_LE(sent.size() * (unit == "x" ? 1 : 3), 4100u);
  }
  const absl::Status huge = WithErrorInfo(absl::InternalError("x"),
                                          {.table = std::string(10'000, 'x')});
  EXPECT_LT(ErrorInfoTrailer(huge)->size(), 1000u);
}

TEST(Metadata, FeaturesAreNamesBetweenCommas) {
  EXPECT_TRUE(HasFeature("wait", "wait"));
  EXPECT_TRUE(HasFeature("session, wait ,x", "wait"));
  EXPECT_FALSE(HasFeature("", "wait"));
  EXPECT_FALSE(HasFeature("waits,await", "wait"));
  EXPECT_EQ(CommonFeatures("c,a,x", "a,b,c"), "a,c");
  EXPECT_EQ(CommonFeatures("", "a"), "");
  EXPECT_EQ(CommonFeatures("a", ""), "");
}

Ref<const Chunk> ChunkOf(const std::string& bytes) {
  auto copy = std::make_unique<char[]>(bytes.size());
  bytes.copy(copy.get(), bytes.size());
  return Ref<const Chunk>(
      new Chunk(Chunk::Header(), std::move(copy), bytes.size()));
}

TEST(ByteBuffer, ARopeArrivesAsItsBytes) {
  for (const size_t size : {size_t{0}, size_t{10}, size_t{100'000}}) {
    const Ref<const Chunk> chunk = ChunkOf(std::string(size, 'c'));
    Rope rope;
    rope.Text() += std::string(size, 'a');
    rope.AppendChunk(chunk);
    rope.Text() += "end";
    const std::string expected = rope.Flatten();
    {
      grpc::ByteBuffer buffer = ToByteBuffer(std::move(rope));
      EXPECT_TRUE(buffer.Valid());
      ReceivedMessage message(buffer);
      EXPECT_EQ(message.Contiguous(), expected);
      EXPECT_EQ(message.size(), expected.size());
      if (size > 1000) {
        // By reference.
        EXPECT_FALSE(chunk->IsUnique());
        EXPECT_EQ(message.slices()[1].data(), chunk->bytes().data());
      }
    }
    EXPECT_TRUE(chunk->IsUnique());
  }
}

TEST(ByteBuffer, AnEmptyMessageIsAMessage) {
  for (grpc::ByteBuffer buffer :
       {ToByteBuffer(Rope()), ToByteBuffer(std::string())}) {
    EXPECT_TRUE(buffer.Valid());
    ReceivedMessage message(buffer);
    EXPECT_EQ(message.Contiguous(), "");
    EXPECT_TRUE(message.slices().empty());
  }
}

TEST(ByteBuffer, NoBufferIsAnEmptyMessage) {
  grpc::ByteBuffer buffer;
  EXPECT_EQ(ReceivedMessage(buffer).Contiguous(), "");
}

TEST(Runtime, MayBeUsedTwice) {
  EXPECT_TRUE(UseGrpc().ok());
  EXPECT_TRUE(UseGrpc().ok());
}

}  // namespace
}  // namespace reverb::rpc
