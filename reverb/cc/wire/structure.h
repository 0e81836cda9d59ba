// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The nesting of an item's data, without its leaves: field `structure` of
// FlatTrajectory, a StructuredValue with `none_value` leaves.
//
// Writers put it beside an item's columns, servers keep it unread, readers nest
// by it. dm-reverb skips the field.

#ifndef REVERB_CC_WIRE_STRUCTURE_H_
#define REVERB_CC_WIRE_STRUCTURE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace reverb::wire {

struct Structure {
  enum class Kind { kLeaf, kList, kTuple, kDict, kNamedTuple };
  Kind kind = Kind::kLeaf;
  std::string name;               // of a named tuple's type
  std::vector<std::string> keys;  // of a dict, sorted; of a named tuple
  std::vector<Structure> children;
};

// The field with its tag and length, as an `Item` takes it in `extra`. Empty
// if it is nested too deeply for protobuf's parsers.
std::string StructureField(const Structure& structure);

// The StructuredValue in an item's `extra`; empty if there is none.
std::string FindStructure(absl::string_view extra);

// Reads a StructuredValue, where everything but a container is a leaf: a
// signature's specs as well. InvalidArgument for what is no such message, nests
// too deeply or has more than a million parts.
absl::StatusOr<Structure> ParseStructure(absl::string_view structured_value);

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_STRUCTURE_H_
