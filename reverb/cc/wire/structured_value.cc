// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/structured_value.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/field_reader.h"

namespace reverb::wire {
namespace {

// Whether a field is a member of the oneof.
bool IsMember(uint32_t tag) {
  switch (tag) {
    case Tag(11, kFixed64):
    case Tag(12, kVarint):
    case Tag(13, kBytes):
    case Tag(14, kVarint):
    case Tag(32, kVarint):
      return true;
    default:
      break;
  }
  const uint32_t number = tag >> 3;
  const bool is_message = number == 1 || (number >= 31 && number <= 35) ||
                          (number >= 51 && number <= 56);
  return is_message && number != 32 && tag == Tag(number, kBytes);
}

absl::Status ParseChild(absl::string_view entry, StructuredChild& child) {
  FieldReader in(entry);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        REVERB_RETURN_IF_ERROR(
            ReadString(in, "a key of the signature", child.name));
        break;
      case Tag(2, kBytes):
        child.value.append(in.bytes().data(), in.bytes().size());
        break;
    }
  }
  return in.status("entry of a signature");
}

}  // namespace

absl::Status ParseStructuredValue(absl::string_view message,
                                  StructuredValue& value) {
  FieldReader in(message);
  while (in.Next()) {
    if (!IsMember(in.tag())) continue;
    const bool is_message =
        in.tag() == Tag(in.number(), kBytes) && in.number() != kStringValue;
    // The last member wins; the same message again merges with what it has,
    // and two messages in a row are, as bytes, the message they merge to.
    if (value.kind != in.number() || !is_message) value.bytes.clear();
    value.kind = in.number();
    if (is_message) value.bytes.append(in.bytes().data(), in.bytes().size());
  }
  return in.status("StructuredValue");
}

absl::Status ParseStructuredChildren(const StructuredValue& value,
                                     std::vector<StructuredChild>& children,
                                     std::string& type_name) {
  const bool keyed = value.kind == kDictValue || value.kind == kNamedTupleValue;
  const uint32_t values = value.kind == kNamedTupleValue ? 2 : 1;
  FieldReader in(value.bytes);
  while (in.Next()) {
    if (in.tag() == Tag(values, kBytes)) {
      StructuredChild& child = children.emplace_back();
      if (keyed) {
        REVERB_RETURN_IF_ERROR(ParseChild(in.bytes(), child));
      } else {
        child.name = absl::StrCat(children.size() - 1);
        child.value.assign(in.bytes().data(), in.bytes().size());
      }
    } else if (value.kind == kNamedTupleValue && in.tag() == Tag(1, kBytes)) {
      REVERB_RETURN_IF_ERROR(ReadString(in, "the name of a type", type_name));
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("container of a signature"));
  if (value.kind == kDictValue) {
    // By bytes; of one key's entries the last one counts.
    std::stable_sort(children.begin(), children.end(),
                     [](const StructuredChild& a, const StructuredChild& b) {
                       return a.name < b.name;
                     });
    std::vector<StructuredChild> distinct;
    for (StructuredChild& child : children) {
      if (!distinct.empty() && distinct.back().name == child.name) {
        distinct.back() = std::move(child);
      } else {
        distinct.push_back(std::move(child));
      }
    }
    children = std::move(distinct);
  }
  return absl::OkStatus();
}

}  // namespace reverb::wire
