// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Samples from messages, and from the chunks of this process.

#include "reverb/cc/client/sample_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "reverb/cc/client/chunker.h"
#include "reverb/cc/wire/messages.h"
#include "reverb/cc/wire/structure.h"
#include "tests/cc/client/test_server.h"

namespace reverb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Overwrites its bytes when it goes, as memory that others reuse.
class MortalMessage : public SampleAssembler::Message {
 public:
  explicit MortalMessage(std::string bytes)
      : bytes_(std::make_unique<std::string>(std::move(bytes))) {}
  ~MortalMessage() override {
    bytes_->assign(bytes_->size(), '\xff');
    static auto* const graveyard =
        new std::vector<std::unique_ptr<std::string>>;
    graveyard->push_back(std::move(bytes_));
  }
  absl::string_view bytes() override { return *bytes_; }

 private:
  std::unique_ptr<std::string> bytes_;
};

// Two columns, of which row t is {first + t} and {-first - t}.
Ref<const Chunk> ChunkOf(int32_t first, int rows) {
  Chunker chunker({.max_rows = rows});
  for (int t = 0; t < rows; ++t) {
    EXPECT_TRUE(
        chunker
            .Append({Ints({first + t}).view(), Ints({-first - t}).view()}, 1, t)
            .ok());
  }
  return chunker.Seal();
}

Sample SampleOf(ItemKey key, Trajectory trajectory,
                std::shared_ptr<const std::string> extra = nullptr) {
  Sample sample;
  sample.item = MakeRef<Item>(key, std::move(trajectory), std::move(extra));
  return sample;
}

Sample OneRow(ItemKey key, int32_t value) {
  Trajectory trajectory;
  trajectory.Add({.chunk = ChunkOf(value, 1), .length = 1});
  return SampleOf(key, std::move(trajectory));
}

std::vector<std::string> Messages(const std::vector<Sample>& samples) {
  wire::SampleResponseBuilder builder("t");
  std::vector<std::string> messages;
  for (const Sample& sample : samples) builder.Add(sample);
  for (const Rope& rope : builder.Take(true)) {
    messages.push_back(rope.Flatten());
  }
  return messages;
}

int32_t ValueOf(const std::optional<absl::StatusOr<SampleData>>& sample) {
  EXPECT_TRUE(sample.has_value());
  EXPECT_TRUE(sample->ok()) << sample->status();
  return Values<int32_t>((*sample)->columns.at(0)).at(0);
}

TEST(SampleAssembler, TakesMessagesBeforeTheOnesBeforeAreUsedUp) {
  SampleAssembler assembler;
  int32_t value = 0;
  for (int message = 0; message < 3; ++message) {
    std::vector<Sample> samples;
    for (int i = 0; i < 4; ++i, ++value) {
      samples.push_back(OneRow(value, value));
    }
    for (std::string& bytes : Messages(samples)) {
      ASSERT_TRUE(
          assembler.Add(std::make_unique<MortalMessage>(std::move(bytes)))
              .ok());
    }
    // Empty messages are legal.
    ASSERT_TRUE(assembler.Add(std::make_unique<MortalMessage>("")).ok());
    if (message == 0) {
      EXPECT_EQ(ValueOf(assembler.Next()), 0);
    }
  }
  for (int32_t i = 1; i < value; ++i) EXPECT_EQ(ValueOf(assembler.Next()), i);
  EXPECT_FALSE(assembler.Next().has_value());
}

// Both ways to decode.
void ForBoth(const Sample& sample,
             const std::function<void(const SampleData&)>& check) {
  const auto local = DecodeLocal(sample);
  ASSERT_TRUE(local.ok()) << local.status();
  check(*local);
  SampleAssembler assembler;
  for (std::string& bytes : Messages({sample})) {
    ASSERT_TRUE(
        assembler.Add(std::make_unique<MortalMessage>(std::move(bytes))).ok());
  }
  const auto remote = assembler.Next();
  ASSERT_TRUE(remote.has_value());
  ASSERT_TRUE(remote->ok()) << remote->status();
  check(**remote);
}

TEST(Decoding, AnyTrajectoryComesBack) {
  const Ref<const Chunk> a = ChunkOf(10, 5);
  const Ref<const Chunk> b = ChunkOf(20, 3);
  Trajectory trajectory;
  // Over two chunks, with gaps, backwards and twice.
  trajectory.Add({.chunk = a, .offset = 1, .length = 2, .ends_column = false});
  trajectory.Add({.chunk = a, .offset = 4, .length = 1, .ends_column = false});
  trajectory.Add({.chunk = b, .offset = 2, .length = 1, .ends_column = false});
  trajectory.Add({.chunk = b, .offset = 0, .length = 1, .ends_column = false});
  trajectory.Add({.chunk = a, .offset = 1, .length = 1});
  // Shorter than the first; and a single cell without its time.
  trajectory.Add({.chunk = b, .offset = 0, .length = 2, .index = 1});
  trajectory.Add(
      {.chunk = a, .offset = 3, .length = 1, .index = 1, .squeeze = true});
  ForBoth(SampleOf(5, trajectory), [](const SampleData& data) {
    EXPECT_EQ(data.key, 5u);
    ASSERT_EQ(data.columns.size(), 3u);
    EXPECT_EQ(data.columns[0].dims, Dims({6, 1}));
    EXPECT_THAT(Values<int32_t>(data.columns[0]),
                ElementsAre(11, 12, 14, 22, 20, 11));
    EXPECT_EQ(data.columns[1].dims, Dims({2, 1}));
    EXPECT_THAT(Values<int32_t>(data.columns[1]), ElementsAre(-20, -21));
    EXPECT_EQ(data.columns[2].dims, Dims({1}));
    EXPECT_THAT(Values<int32_t>(data.columns[2]), ElementsAre(-13));
    EXPECT_EQ(data.structure, "");
  });
}

TEST(Decoding, TheStructureComesAlong) {
  wire::Structure dict;
  dict.kind = wire::Structure::Kind::kDict;
  dict.keys = {"a"};
  dict.children.resize(1);
  const std::string field = wire::StructureField(dict);
  Trajectory trajectory;
  trajectory.Add({.chunk = ChunkOf(1, 1), .length = 1});
  ForBoth(SampleOf(1, trajectory, std::make_shared<const std::string>(field)),
          [&](const SampleData& data) {
            EXPECT_EQ(data.structure, wire::FindStructure(field));
            EXPECT_FALSE(data.structure.empty());
          });
  // Other fields are none, and neither is a number in its place.
  for (const std::string& extra :
       {std::string("\x10\x01"), std::string("\xc0\x3e\x05")}) {
    ForBoth(SampleOf(1, trajectory, std::make_shared<const std::string>(extra)),
            [&](const SampleData& data) {
              EXPECT_THAT(data.structure, IsEmpty());
              EXPECT_EQ(data.columns.size(), 1u);
            });
  }
}

}  // namespace
}  // namespace reverb
