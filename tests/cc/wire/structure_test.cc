// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include <protozero/pbf_writer.hpp>

#include "reverb/cc/wire/field_reader.h"

namespace reverb::wire {
namespace {

using protozero::pbf_writer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = Structure::Kind;

std::string Message(const std::function<void(pbf_writer&)>& fill) {
  std::string bytes;
  pbf_writer out(bytes);
  fill(out);
  return bytes;
}

std::string None() {
  return Message([](pbf_writer& out) { out.add_message(1, std::string()); });
}

// A container of field `number` whose parts are `values`.
std::string List(uint32_t number, const std::vector<std::string>& values) {
  return Message([&](pbf_writer& out) {
    out.add_message(number, Message([&](pbf_writer& list) {
                      for (const std::string& value : values) {
                        list.add_message(1, value);
                      }
                    }));
  });
}

std::string Pair(const std::string& key, const std::string& value) {
  return Message([&](pbf_writer& out) {
    out.add_string(1, key);
    out.add_message(2, value);
  });
}

std::string Field(const std::string& value) {
  return Message([&](pbf_writer& out) { out.add_message(1000, value); });
}

Structure Dict(std::vector<std::string> keys, std::vector<Structure> children) {
  Structure structure;
  structure.kind = Kind::kDict;
  structure.keys = std::move(keys);
  structure.children = std::move(children);
  return structure;
}

Structure Leaf() { return {}; }

Structure Sequence(Kind kind, std::vector<Structure> children) {
  Structure structure;
  structure.kind = kind;
  structure.children = std::move(children);
  return structure;
}

// A list in a list in a list ...
Structure Nested(Kind kind, int depth) {
  Structure structure = Leaf();
  for (int i = 0; i < depth; ++i) {
    Structure outer = Sequence(kind, {});
    if (kind == Kind::kDict) outer.keys = {"key"};
    outer.children.push_back(std::move(structure));
    structure = std::move(outer);
  }
  return structure;
}

TEST(Structure, IsWrittenAsTheMessageItIs) {
  EXPECT_EQ(StructureField(Leaf()), Field(None()));
  EXPECT_EQ(StructureField(Sequence(Kind::kList, {Leaf(), Leaf()})),
            Field(List(51, {None(), None()})));
  EXPECT_EQ(StructureField(Sequence(Kind::kTuple, {})), Field(List(52, {})));

  const std::string long_key(300, 'k');  // lengths of two bytes
  const Structure dict =
      Dict({"", long_key}, {Leaf(), Sequence(Kind::kTuple, {Leaf()})});
  EXPECT_EQ(
      StructureField(dict),
      Field(List(53, {Pair("", None()), Pair(long_key, List(52, {None()}))})));

  const Structure named{.kind = Kind::kNamedTuple,
                        .name = "Step",
                        .keys = {"b", "a"},
                        .children = {Leaf(), dict}};
  const std::string expected = Message([&](pbf_writer& out) {
    out.add_message(
        54, Message([&](pbf_writer& tuple) {
          tuple.add_string(1, "Step");
          tuple.add_message(2, Pair("b", None()));
          tuple.add_message(
              2, Pair("a", List(53, {Pair("", None()),
                                     Pair(long_key, List(52, {None()}))})));
        }));
  });
  EXPECT_EQ(StructureField(named), Field(expected));
}

TEST(Structure, ComesBack) {
  const Structure structure{
      .kind = Kind::kNamedTuple,
      .name = "Step",
      .keys = {"b", "a"},
      .children = {Leaf(), Dict({"x", "y"}, {Sequence(Kind::kList, {Leaf()}),
                                             Sequence(Kind::kTuple, {})})}};
  // Beside fields of others.
  const std::string extra =
      Message([](pbf_writer& out) { out.add_uint64(7, 1); }) +
      StructureField(structure);
  const auto read = ParseStructure(FindStructure(extra));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->kind, Kind::kNamedTuple);
  EXPECT_EQ(read->name, "Step");
  EXPECT_THAT(read->keys, ElementsAre("b", "a"));
  ASSERT_EQ(read->children.size(), 2u);
  EXPECT_EQ(read->children[0].kind, Kind::kLeaf);
  const Structure& dict = read->children[1];
  EXPECT_EQ(dict.kind, Kind::kDict);
  EXPECT_THAT(dict.keys, ElementsAre("x", "y"));
  ASSERT_EQ(dict.children.size(), 2u);
  EXPECT_EQ(dict.children[0].kind, Kind::kList);
  ASSERT_EQ(dict.children[0].children.size(), 1u);
  EXPECT_EQ(dict.children[1].kind, Kind::kTuple);
  EXPECT_TRUE(dict.children[1].children.empty());
}

TEST(Structure, ReadsWhatOthersWrite) {
  // Unsorted keys, one of them twice, and leaves that are specs.
  const std::string spec =
      Message([](pbf_writer& out) { out.add_message(33, std::string()); });
  const auto dict = ParseStructure(
      List(53, {Pair("b", None()), Pair("a", spec), Pair("b", spec)}));
  ASSERT_TRUE(dict.ok()) << dict.status();
  EXPECT_THAT(dict->keys, ElementsAre("a", "b"));
  EXPECT_EQ(dict->children[0].kind, Kind::kLeaf);
  // A field that is split in two merges.
  const auto list = ParseStructure(FindStructure(
      Field(List(51, {None()})) + Field(List(51, {None(), None()}))));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->children.size(), 3u);
}

TEST(Structure, IsNotWrittenTooDeep) {
  EXPECT_NE(StructureField(Nested(Kind::kList, 44)), "");
  EXPECT_EQ(StructureField(Nested(Kind::kList, 45)), "");
  EXPECT_NE(StructureField(Nested(Kind::kDict, 29)), "");
  EXPECT_EQ(StructureField(Nested(Kind::kDict, 30)), "");
  const auto read =
      ParseStructure(FindStructure(StructureField(Nested(Kind::kDict, 29))));
  EXPECT_TRUE(read.ok()) << read.status();
}

TEST(Structure, GarbageIsAnError) {
  EXPECT_EQ(FindStructure(""), "");
  EXPECT_EQ(FindStructure("\xff\xff"), "");
  EXPECT_EQ(
      FindStructure(Message([](pbf_writer& out) { out.add_uint64(1000, 5); })),
      "");
  const auto cut = ParseStructure(List(51, {None()}).substr(0, 4));
  EXPECT_TRUE(absl::IsInvalidArgument(cut.status())) << cut.status();
  const auto key = ParseStructure(List(53, {Pair("\xff", None())}));
  EXPECT_TRUE(absl::IsInvalidArgument(key.status())) << key.status();

  std::string deep = None();
  for (int i = 0; i < kMaxDepth; ++i) deep = List(51, {deep});
  const auto too_deep = ParseStructure(deep);
  EXPECT_TRUE(absl::IsInvalidArgument(too_deep.status()));
  EXPECT_THAT(too_deep.status().message(), HasSubstr("more than 100 deep"));

  std::string many;
  for (int i = 0; i < 1'000'000; ++i) many += std::string("\x0a\x00", 2);
  const auto too_many = ParseStructure(
      Message([&](pbf_writer& out) { out.add_message(51, many); }));
  EXPECT_TRUE(absl::IsInvalidArgument(too_many.status()));
  EXPECT_THAT(too_many.status().message(), HasSubstr("1000000 parts"));
}

}  // namespace
}  // namespace reverb::wire
