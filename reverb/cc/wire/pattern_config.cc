// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/pattern_config.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/field_reader.h"

namespace reverb::wire {
namespace {

using Left = PatternCondition::Left;
using Cmp = PatternCondition::Cmp;

constexpr size_t kMaxParts = 1'000'000;

// A message field that came more than once is, as bytes, all of them in a row.
void Merge(absl::string_view bytes, std::string& message) {
  message.append(bytes.data(), bytes.size());
}

absl::Status ParseNode(absl::string_view message, PatternNode& node) {
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        node.column = in.int32();
        break;
      case Tag(2, kVarint):
        node.start = in.int32();
        break;
      case Tag(3, kVarint):
        node.stop = in.int32();
        break;
      case Tag(4, kVarint):
        node.step = in.int32();
        break;
    }
  }
  return in.status("PatternNode");
}

absl::Status ParseModuloEq(absl::string_view message,
                           PatternCondition& condition) {
  condition.mod = 0;
  condition.value = 0;
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        condition.mod = in.int32();
        break;
      case Tag(2, kVarint):
        condition.value = in.int32();
        break;
    }
  }
  return in.status("ModuloEq");
}

absl::Status ParseCondition(absl::string_view message,
                            PatternCondition& condition) {
  std::string modulo;  // kModEq
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      // The member of a oneof that comes last is the one that is set; the bools
      // stand for the member, whatever their value.
      case Tag(1, kVarint):
        condition.left = Left::kStepIndex;
        break;
      case Tag(2, kVarint):
        condition.left = Left::kStepsSinceApplied;
        break;
      case Tag(3, kVarint):
        condition.left = Left::kBufferLength;
        break;
      case Tag(4, kVarint):
        condition.left = Left::kIsEndEpisode;
        break;
      case Tag(9, kVarint):
        condition.left = Left::kData;
        condition.column = in.int32();
        break;
      case Tag(5, kVarint):
        condition.cmp = Cmp::kEq;
        condition.value = in.int32();
        break;
      case Tag(6, kVarint):
        condition.cmp = Cmp::kGe;
        condition.value = in.int32();
        break;
      case Tag(7, kBytes):
        if (condition.cmp != Cmp::kModEq) modulo.clear();
        condition.cmp = Cmp::kModEq;
        Merge(in.bytes(), modulo);
        break;
      case Tag(8, kVarint):
        condition.inverse = in.boolean();
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("Condition"));
  if (condition.cmp != Cmp::kModEq) return absl::OkStatus();
  return ParseModuloEq(modulo, condition);
}

absl::Status ParseConstant(absl::string_view message,
                           PatternPriority& priority) {
  FieldReader in(message);
  while (in.Next()) {
    if (in.tag() == Tag(1, kFixed64)) priority.value = in.float64();
  }
  return in.status("ConstantPriorityFn");
}

absl::Status ParseTdError(absl::string_view message,
                          PatternPriority& priority) {
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kFixed64):
        priority.value = in.float64();
        break;
      case Tag(2, kVarint):
        priority.column = in.int32();
        break;
    }
  }
  return in.status("TDError");
}

absl::Status ParsePriority(absl::string_view message,
                           PatternPriority& priority) {
  using Kind = PatternPriority::Kind;
  std::string member;
  FieldReader in(message);
  while (in.Next()) {
    Kind kind;
    switch (in.tag()) {
      case Tag(1, kBytes):
        kind = Kind::kConstant;
        break;
      case Tag(2, kBytes):
        kind = Kind::kTdError;
        break;
      default:
        continue;
    }
    if (kind != priority.kind) member.clear();
    priority.kind = kind;
    Merge(in.bytes(), member);
  }
  REVERB_RETURN_IF_ERROR(in.status("Priority"));
  switch (priority.kind) {
    case Kind::kNone:
      return absl::OkStatus();
    case Kind::kConstant:
      return ParseConstant(member, priority);
    case Kind::kTdError:
      return ParseTdError(member, priority);
  }
  return absl::OkStatus();
}

absl::Status TooMany(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("a config has more than ", kMaxParts, " ", what));
}

}  // namespace

absl::StatusOr<PatternConfig> ParsePatternConfig(absl::string_view message) {
  PatternConfig config;
  std::string priority;
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        if (config.nodes.size() >= kMaxParts) return TooMany("pattern nodes");
        REVERB_RETURN_IF_ERROR(
            ParseNode(in.bytes(), config.nodes.emplace_back()));
        break;
      case Tag(2, kBytes):
        if (!config.structure) config.structure.emplace();
        Merge(in.bytes(), *config.structure);
        break;
      case Tag(3, kBytes):
        REVERB_RETURN_IF_ERROR(
            ReadString(in, "the name of the table", config.table));
        break;
      case Tag(4, kBytes):
        Merge(in.bytes(), priority);
        break;
      case Tag(5, kBytes):
        if (config.conditions.size() >= kMaxParts) return TooMany("conditions");
        REVERB_RETURN_IF_ERROR(
            ParseCondition(in.bytes(), config.conditions.emplace_back()));
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("StructuredWriterConfig"));
  REVERB_RETURN_IF_ERROR(ParsePriority(priority, config.priority));
  return config;
}

}  // namespace reverb::wire
