// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// One level of a StructuredValue: what it is, and its children as bytes.
//
// What signature_message.cc and structure.cc have in common; walking down is
// theirs, and so is the limit on how deep.
//
// Errors: InvalidArgument for bytes that are no message.

#ifndef REVERB_CC_WIRE_STRUCTURED_VALUE_H_
#define REVERB_CC_WIRE_STRUCTURED_VALUE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reverb::wire {

// Members of StructuredValue's oneof, by field number.
enum StructuredKind : uint32_t {
  kNoneValue = 1,
  kStringValue = 13,
  kTensorSpecValue = 33,
  kBoundedTensorSpecValue = 35,
  kListValue = 51,
  kTupleValue = 52,
  kDictValue = 53,
  kNamedTupleValue = 54,
};

inline bool IsContainer(uint32_t kind) {
  return kind >= kListValue && kind <= kNamedTupleValue;
}

// The member of the oneof that is set, 0 if none, and its value's bytes if it
// is a message.
struct StructuredValue {
  uint32_t kind = 0;
  std::string bytes;
};
absl::Status ParseStructuredValue(absl::string_view message,
                                  StructuredValue& value);

// One child of a container; `name` is its key, field or index.
struct StructuredChild {
  std::string name;
  std::string value;  // a StructuredValue
};
// The children of a container in flat order; the name of a named tuple's type
// in `type_name`.
absl::Status ParseStructuredChildren(const StructuredValue& value,
                                     std::vector<StructuredChild>& children,
                                     std::string& type_name);

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_STRUCTURED_VALUE_H_
