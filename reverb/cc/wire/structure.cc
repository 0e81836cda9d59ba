// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/field_reader.h"
#include "reverb/cc/wire/field_writer.h"
#include "reverb/cc/wire/structured_value.h"

namespace reverb::wire {
namespace {

constexpr uint32_t kStructureField = 1000;  // of FlatTrajectory

// Messages inside each other that a structure may take; protobuf's parsers
// stop at 100.
constexpr int kMaxMessages = 90;
constexpr int kMaxParts = 1'000'000;

using Kind = Structure::Kind;

uint32_t NumberOf(Kind kind) {
  switch (kind) {
    case Kind::kList:
      return kListValue;
    case Kind::kTuple:
      return kTupleValue;
    case Kind::kDict:
      return kDictValue;
    case Kind::kNamedTuple:
      return kNamedTupleValue;
    default:
      return kNoneValue;
  }
}

bool IsKeyed(Kind kind) {
  return kind == Kind::kDict || kind == Kind::kNamedTuple;
}

// The number of messages inside each other.
int Depth(const Structure& structure) {
  int deepest = 0;
  for (const Structure& child : structure.children) {
    deepest = std::max(deepest, Depth(child));
    if (deepest > kMaxMessages) break;
  }
  return deepest + (IsKeyed(structure.kind) ? 3 : 2);
}

// A StructuredValue, written from its end to its beginning: nested lengths are
// known by then.
class BackwardWriter {
 public:
  void Value(const Structure& structure) {
    const size_t end = reversed_.size();
    const bool keyed = IsKeyed(structure.kind);
    const uint32_t values = structure.kind == Kind::kNamedTuple ? 2 : 1;
    for (size_t i = structure.children.size(); i-- > 0;) {
      const size_t child_end = reversed_.size();
      Value(structure.children[i]);
      if (keyed) {
        Begin(2, child_end);
        String(1, structure.keys[i]);
      }
      Begin(values, child_end);
    }
    if (!structure.name.empty()) String(1, structure.name);
    Begin(NumberOf(structure.kind), end);
  }

  // Puts tag and length before what was written since `end`.
  void Begin(uint32_t number, size_t end) {
    Varint(reversed_.size() - end);
    Varint(Tag(number, kBytes));
  }

  std::string Take() {
    return std::string(reversed_.rbegin(), reversed_.rend());
  }

 private:
  void String(uint32_t number, absl::string_view value) {
    const size_t end = reversed_.size();
    reversed_.append(value.rbegin(), value.rend());
    Begin(number, end);
  }

  void Varint(uint64_t value) {
    char bytes[10];
    FieldWriter writer(bytes);
    writer.Varint(value);
    for (size_t i = VarintSize(value); i-- > 0;) reversed_.push_back(bytes[i]);
  }

  std::string reversed_;
};

Kind KindOf(uint32_t number) {
  switch (number) {
    case kListValue:
      return Kind::kList;
    case kTupleValue:
      return Kind::kTuple;
    case kDictValue:
      return Kind::kDict;
    case kNamedTupleValue:
      return Kind::kNamedTuple;
    default:
      return Kind::kLeaf;
  }
}

absl::Status Parse(absl::string_view message, int depth, int& parts,
                   Structure& result) {
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(
        absl::StrCat("a structure is nested more than ", kMaxDepth, " deep"));
  }
  if (++parts > kMaxParts) {
    return absl::InvalidArgumentError(
        absl::StrCat("a structure has more than ", kMaxParts, " parts"));
  }
  StructuredValue value;
  REVERB_RETURN_IF_ERROR(ParseStructuredValue(message, value));
  result.kind = KindOf(value.kind);
  if (result.kind == Kind::kLeaf) return absl::OkStatus();
  std::vector<StructuredChild> children;
  REVERB_RETURN_IF_ERROR(ParseStructuredChildren(value, children, result.name));
  result.children.resize(children.size());
  for (size_t i = 0; i < children.size(); ++i) {
    REVERB_RETURN_IF_ERROR(
        Parse(children[i].value, depth + 1, parts, result.children[i]));
    if (IsKeyed(result.kind)) {
      result.keys.push_back(std::move(children[i].name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string StructureField(const Structure& structure) {
  if (Depth(structure) > kMaxMessages) return "";
  BackwardWriter out;
  out.Value(structure);
  out.Begin(kStructureField, 0);
  return out.Take();
}

std::string FindStructure(absl::string_view extra) {
  std::string structure;
  FieldReader in(extra);
  while (in.Next()) {
    // Two messages in a row are the message that they merge to.
    if (in.tag() == Tag(kStructureField, kBytes)) {
      structure.append(in.bytes().data(), in.bytes().size());
    }
  }
  return structure;
}

absl::StatusOr<Structure> ParseStructure(absl::string_view structured_value) {
  Structure result;
  int parts = 0;
  REVERB_RETURN_IF_ERROR(Parse(structured_value, 1, parts, result));
  return result;
}

}  // namespace reverb::wire
