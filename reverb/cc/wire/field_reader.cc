// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/field_reader.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

#include "reverb/cc/wire/utf8.h"

namespace reverb::wire {
namespace {

// What `SkipGroup` reads from.
struct Cursor {
  const char*& pos;
  const char* end;

  bool ReadVarint(uint64_t& value) { return wire::ReadVarint(pos, end, value); }
  bool Skip(uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(end - pos)) return false;
    pos += bytes;
    return true;
  }
};

}  // namespace

bool ReadVarintSlow(const char*& pos, const char* end, uint64_t& value) {
  uint64_t result = 0;
  const char* p = pos;
  for (int shift = 0; shift < 70 && p != end; shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(*p++);
    // What the tenth byte has beyond 64 bits is dropped, as protobuf does.
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      pos = p;
      value = result;
      return true;
    }
  }
  return false;
}

bool FieldReader::Next() {
  if (pos_ == end_ || error_ != nullptr) return false;
  field_ = pos_;
  uint64_t tag = 0;
  if (!ReadVarint(pos_, end_, tag)) return Fail(kBadNumber);
  if (!IsTag(tag)) return Fail(kBadTag);
  tag_ = static_cast<uint32_t>(tag);
  const size_t left = static_cast<size_t>(end_ - pos_);
  switch (tag & 7) {
    case kVarint:
      return ReadVarint(pos_, end_, value_) || Fail(kBadNumber);
    case kFixed64:
      if (left < 8) return Fail(kCutShort);
      std::memcpy(&value_, pos_, 8);  // little-endian hosts only
      pos_ += 8;
      return true;
    case kFixed32:
      if (left < 4) return Fail(kCutShort);
      value_ = 0;
      std::memcpy(&value_, pos_, 4);
      pos_ += 4;
      return true;
    case kBytes: {
      uint64_t length = 0;
      if (!ReadVarint(pos_, end_, length)) return Fail(kBadNumber);
      if (length > static_cast<uint64_t>(end_ - pos_)) return Fail(kBadLength);
      bytes_ = absl::string_view(pos_, static_cast<size_t>(length));
      pos_ += length;
      return true;
    }
    case kStartGroup: {
      Cursor cursor{pos_, end_};
      const char* error = SkipGroup(cursor, number());
      return error == nullptr || Fail(error);
    }
    default:  // the end of a group that never began
      return Fail(kBadGroup);
  }
}

absl::Status FieldReader::status(absl::string_view message) const {
  if (error_ == nullptr) return absl::OkStatus();
  return MalformedError(message, error_, static_cast<size_t>(field_ - begin_));
}

bool AppendPacked(absl::string_view packed, std::vector<uint64_t>& values) {
  // Each value ends with the one byte that is below 0x80.
  const auto count = std::count_if(packed.begin(), packed.end(), [](char c) {
    return static_cast<int8_t>(c) >= 0;
  });
  values.reserve(values.size() + static_cast<size_t>(count));
  const char* pos = packed.data();
  const char* const end = pos + packed.size();
  while (pos != end) {
    uint64_t value = 0;
    if (!ReadVarint(pos, end, value)) return false;
    values.push_back(value);
  }
  return true;
}

absl::Status ReadString(const FieldReader& in, absl::string_view what,
                        std::string& value) {
  if (!IsUtf8(in.bytes())) {
    return absl::InvalidArgumentError(absl::StrCat(what, " is not UTF-8"));
  }
  value.assign(in.bytes().data(), in.bytes().size());
  return absl::OkStatus();
}

absl::Status MalformedError(absl::string_view message, absl::string_view error,
                            size_t offset) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a valid ", message, ": ", error, " at byte ", offset));
}

}  // namespace reverb::wire
