// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Signatures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reverb/cc/wire/data_messages.h"
#include "tests/cc/wire/test_messages.h"

namespace reverb::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Spec(int dtype, std::vector<int64_t> dims,
                 const std::string& name = "", uint32_t kind = 33) {
  return Message([&](pbf_writer& out) {
    pbf_writer spec(out, kind);
    if (!name.empty()) spec.add_string(1, name);
    spec.add_message(2, Message([&](pbf_writer& shape) {
                       for (int64_t dim : dims) {
                         pbf_writer(shape, 2).add_int64(1, dim);
                       }
                     }));
    spec.add_enum(3, dtype);
  });
}

std::string Sequence(uint32_t kind, std::vector<std::string> values) {
  return Message([&](pbf_writer& out) {
    out.add_message(kind, Message([&](pbf_writer& list) {
                      for (const auto& value : values) {
                        list.add_message(1, value);
                      }
                    }));
  });
}

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string Entry(const std::string& key, const std::string& value) {
  return Message([&](pbf_writer& out) {
    out.add_string(1, key);
    out.add_message(2, value);
  });
}

std::string Dict(const Entries& entries) {
  return Message([&](pbf_writer& out) {
    out.add_message(53, Message([&](pbf_writer& dict) {
                      for (const auto& [key, value] : entries) {
                        dict.add_message(1, Entry(key, value));
                      }
                    }));
  });
}

std::string NamedTuple(const std::string& name, const Entries& entries) {
  return Message([&](pbf_writer& out) {
    pbf_writer tuple(out, 54);
    tuple.add_string(1, name);
    for (const auto& [key, value] : entries) {
      tuple.add_message(2, Entry(key, value));
    }
  });
}

std::vector<std::string> Names(const std::string& signature) {
  const auto specs = ParseSignature(signature);
  EXPECT_TRUE(specs.ok()) << specs.status();
  std::vector<std::string> names;
  if (specs.ok()) {
    for (const TensorSpec& spec : *specs) names.push_back(spec.name);
  }
  return names;
}

TEST(ParseSignature, TakesASingleSpec) {
  const auto specs = ParseSignature(Spec(1, {-1, 3}, "x"));
  ASSERT_TRUE(specs.ok()) << specs.status();
  ASSERT_EQ(specs->size(), 1u);
  EXPECT_EQ((*specs)[0].name, "x");
  EXPECT_EQ((*specs)[0].dtype, DType::kFloat32);
  EXPECT_EQ((*specs)[0].dims, (Dims{-1, 3}));
  EXPECT_FALSE((*specs)[0].unknown_rank);
}

TEST(ParseSignature, FlattensDictsByTheBytesOfTheirKeys) {
  const std::string spec = Spec(1, {});
  EXPECT_THAT(Names(Dict({{"b", spec},
                          {"\xc3\xa4", spec},
                          {"a", Sequence(51, {spec, Spec(1, {}, "own")})},
                          {"B", NamedTuple("P", {{"y", spec}, {"x", spec}})},
                          {"empty", Sequence(52, {})}})),
              ElementsAre("B/y", "B/x", "a/0", "a/1/own", "b", "\xc3\xa4"));
}

TEST(ParseSignature, TheLastEntryOfAKeyCounts) {
  const auto specs =
      ParseSignature(Dict({{"a", Spec(1, {})}, {"a", Spec(2, {})}}));
  ASSERT_TRUE(specs.ok());
  ASSERT_EQ(specs->size(), 1u);
  EXPECT_EQ((*specs)[0].dtype, DType::kFloat64);
}

TEST(ParseSignature, TheLastMemberOfAOneofCountsAndTheSameMerges) {
  // A list, then a tuple in two parts.
  const std::string bytes = Sequence(51, {Spec(1, {})}) +
                            Sequence(52, {Spec(2, {})}) +
                            Sequence(52, {Spec(3, {})});
  const auto specs = ParseSignature(bytes);
  ASSERT_TRUE(specs.ok()) << specs.status();
  ASSERT_EQ(specs->size(), 2u);
  EXPECT_EQ((*specs)[0].dtype, DType::kFloat64);
  EXPECT_EQ((*specs)[1].dtype, DType::kInt32);
  EXPECT_FALSE(ParseSignature(bytes + Message([](pbf_writer& out) {
                                out.add_bool(14, true);
                              }))
                   .ok());
  // Another wire type makes it an unknown field.
  EXPECT_TRUE(ParseSignature(bytes + Message([](pbf_writer& out) {
                               out.add_bool(53, true);
                             }))
                  .ok());
}

TEST(ParseSignature, TakesBoundedSpecsAndUnknownRanks) {
  const std::string any = Message([](pbf_writer& out) {
    pbf_writer spec(out, 35);
    {
      pbf_writer shape(spec, 2);
      shape.add_bool(3, true);
    }
    spec.add_enum(3, 4);
    spec.add_message(4, std::string("\x08\x04"));
  });
  const auto specs = ParseSignature(any);
  ASSERT_TRUE(specs.ok()) << specs.status();
  EXPECT_TRUE((*specs)[0].unknown_rank);
}

TEST(ParseSignature, NamesTheColumnThatIsWrong) {
  EXPECT_EQ(ParseSignature(Dict({{"obs", Spec(20, {})}})).status().message(),
            "column 'obs': a spec has the dtype number 20, of which there are "
            "no values");
  EXPECT_EQ(ParseSignature(Dict({{"obs", Spec(1, {-2})}})).status().message(),
            "column 'obs': a spec has a dimension of -2");
  const std::string none =
      Message([](pbf_writer& out) { out.add_message(1, std::string()); });
  EXPECT_EQ(ParseSignature(Dict({{"a", none}})).status().message(),
            "column 'a' of a signature is no tensor spec");
  EXPECT_EQ(ParseSignature(Dict({{"\xff", none}})).status().message(),
            "a key of the signature is not UTF-8");
  EXPECT_FALSE(ParseSignature("").ok());
}

TEST(ParseSignature, BoundsTheDepth) {
  std::string nested = Spec(1, {});
  for (int i = 1; i < 100; ++i) nested = Sequence(51, {nested});
  EXPECT_TRUE(ParseSignature(nested).ok());
  EXPECT_THAT(SignatureText(nested), HasSubstr("[[[float32 ()]]]"));
  nested = Sequence(51, {nested});
  EXPECT_EQ(ParseSignature(nested).status().message(),
            "a signature is nested more than 100 deep");
  EXPECT_EQ(SignatureText(nested),
            "<a signature is nested more than 100 deep>");
  for (int i = 0; i < 3000; ++i) nested = Sequence(51, {nested});
  EXPECT_FALSE(ParseSignature(nested).ok());
}

TEST(SignatureText, ReadsLikePython) {
  EXPECT_EQ(SignatureText(Dict({{"b", Spec(9, {})}, {"a", Spec(1, {3})}})),
            "{'a': float32 (3,), 'b': int64 ()}");
  EXPECT_EQ(SignatureText(Sequence(52, {Spec(1, {-1, 84})})),
            "(float32 (?, 84),)");
  EXPECT_EQ(SignatureText(NamedTuple("Step", {{"r", Spec(2, {})}})),
            "Step(r=float64 ())");
  EXPECT_EQ(SignatureText(Sequence(51, {Spec(7, {}), Spec(10, {})})),
            "[string (), bool ()]");
}

}  // namespace
}  // namespace reverb::wire
