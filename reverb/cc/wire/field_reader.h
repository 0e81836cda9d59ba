// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The fields of one protobuf message, one after the other.
//
// Reads what protobuf's own parsers read, including groups (skipped) and field
// numbers that nobody uses, and throws nothing: bytes that are no message are
// an everyday event at the edge. That is why reading doesn't go through
// protozero, whose readers throw, refuse groups and cut 64-bit lengths to 32
// bits.
//
//   FieldReader in(bytes);
//   while (in.Next()) {
//     switch (in.tag()) {
//       case Tag(1, kVarint): key = in.varint(); break;
//       case Tag(2, kBytes): name = in.bytes(); break;
//     }  // anything else, also a known field of another type, is unknown
//   }
//   return in.status("KeyAndName");
//
// Memory: none; values are borrowed from the message.
// Threads: one thread.

#ifndef REVERB_CC_WIRE_FIELD_READER_H_
#define REVERB_CC_WIRE_FIELD_READER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace reverb::wire {

enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,  // length-delimited: bytes, strings, messages, packed numbers
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// Field number and wire type, as they stand in front of a value.
constexpr uint32_t Tag(uint32_t number, WireType type) {
  return number << 3 | type;
}

// How deep messages and groups may be nested.
inline constexpr int kMaxDepth = 100;

// Reads a varint and moves `pos` behind it; false, without moving, if it does
// not end before `end` or within ten bytes.
bool ReadVarintSlow(const char*& pos, const char* end, uint64_t& value);
inline bool ReadVarint(const char*& pos, const char* end, uint64_t& value) {
  if (pos != end && static_cast<int8_t>(*pos) >= 0) {
    value = static_cast<uint8_t>(*pos++);
    return true;
  }
  return ReadVarintSlow(pos, end, value);
}

// Whether `tag`, read as a number, is a field number with a wire type.
inline bool IsTag(uint64_t tag) {
  return tag <= UINT32_MAX && (tag >> 3) != 0 && (tag & 7) <= kFixed32;
}

// Skips the fields up to the end of the group that field `number` began.
// `Source` has `bool ReadVarint(uint64_t&)` and `bool Skip(uint64_t bytes)`.
// Null, or what is wrong.
template <typename Source>
const char* SkipGroup(Source& source, uint32_t number);

inline constexpr char kBadNumber[] = "a number that is cut short or too long";
inline constexpr char kBadTag[] = "an impossible field number or type";
inline constexpr char kBadLength[] = "a length beyond the end of the message";
inline constexpr char kCutShort[] = "a value that is cut short";
inline constexpr char kBadGroup[] = "a group that does not end where it should";
inline constexpr char kTooDeep[] = "groups nested too deep";

class FieldReader {
 public:
  explicit FieldReader(absl::string_view message)
      : begin_(message.data()),
        pos_(message.data()),
        end_(message.data() + message.size()) {}

  // Goes on to the next field; false at the end and at the first error.
  bool Next();

  // Of the current field.
  uint32_t tag() const { return tag_; }
  uint32_t number() const { return tag_ >> 3; }
  // The value, by wire type: kVarint...
  uint64_t varint() const { return value_; }
  int64_t int64() const { return static_cast<int64_t>(value_); }
  int32_t int32() const { return static_cast<int32_t>(value_); }
  bool boolean() const { return value_ != 0; }
  // ... kFixed64 ...
  double float64() const { return std::bit_cast<double>(value_); }
  // ... kBytes ...
  absl::string_view bytes() const { return bytes_; }
  // ... and any: tag and value as they stand.
  absl::string_view raw() const {
    return {field_, static_cast<size_t>(pos_ - field_)};
  }

  // OK if everything so far was well formed, else InvalidArgument that says
  // what is wrong with this `message` ("ChunkData") and where.
  absl::Status status(absl::string_view message) const;

 private:
  bool Fail(const char* error) {
    error_ = error;
    return false;
  }

  const char* const begin_;
  const char* pos_;
  const char* const end_;
  const char* field_ = nullptr;
  const char* error_ = nullptr;
  uint32_t tag_ = 0;
  uint64_t value_ = 0;
  absl::string_view bytes_;
};

// Appends the varints of a packed field; false if they are malformed.
bool AppendPacked(absl::string_view packed, std::vector<uint64_t>& values);

// Sets `value` to the string that the current field of `in` is; InvalidArgument
// naming `what` if it is not UTF-8.
absl::Status ReadString(const FieldReader& in, absl::string_view what,
                        std::string& value);

// "not a valid `message`: `error` at byte `offset`".
absl::Status MalformedError(absl::string_view message, absl::string_view error,
                            size_t offset);

template <typename Source>
const char* SkipGroup(Source& source, uint32_t number) {
  uint32_t open[kMaxDepth];
  int depth = 0;
  open[depth++] = number;
  while (depth > 0) {
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!source.ReadVarint(tag)) return kBadGroup;
    if (!IsTag(tag)) return kBadTag;
    const uint32_t field = static_cast<uint32_t>(tag >> 3);
    switch (tag & 7) {
      case kVarint:
        if (!source.ReadVarint(value)) return kBadNumber;
        break;
      case kFixed64:
        if (!source.Skip(8)) return kCutShort;
        break;
      case kFixed32:
        if (!source.Skip(4)) return kCutShort;
        break;
      case kBytes:
        if (!source.ReadVarint(value)) return kBadNumber;
        if (!source.Skip(value)) return kBadLength;
        break;
      case kStartGroup:
        if (depth == kMaxDepth) return kTooDeep;
        open[depth++] = field;
        break;
      case kEndGroup:
        if (open[--depth] != field) return kBadGroup;
        break;
    }
  }
  return nullptr;
}

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_FIELD_READER_H_
