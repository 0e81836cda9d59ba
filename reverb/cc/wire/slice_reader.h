// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The top-level fields of a message that lies in several pieces.
//
// As `FieldReader`, but the bytes of a field are left where they are until
// asked for: copied out once, or borrowed if they lie in one slice.
//
// Threads: one thread.

#ifndef REVERB_CC_WIRE_SLICE_READER_H_
#define REVERB_CC_WIRE_SLICE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/wire/field_reader.h"

namespace reverb::wire {

class SliceReader {
 public:
  // `slices` stay alive and unchanged.
  explicit SliceReader(absl::Span<const absl::string_view> slices);

  // Goes on to the next field; false at the end and at the first error.
  bool Next();

  uint32_t tag() const { return tag_; }
  uint64_t varint() const { return value_; }  // kVarint
  size_t length() const { return unread_; }   // kBytes, not yet read
  // The value of a kBytes field, once per field: borrowed from its slice, or
  // gathered in `scratch` if it lies in several.
  absl::string_view Bytes(std::string& scratch);
  // The same into `out`, of length() bytes.
  void CopyTo(char* out);

  size_t remaining() const { return remaining_; }  // bytes of the message

  absl::Status status(absl::string_view message) const;

  // For `SkipGroup`.
  bool ReadVarint(uint64_t& value);
  bool Skip(uint64_t bytes);

 private:
  bool Fail(const char* error) {
    error_ = error;
    return false;
  }
  // Moves to the next slice with bytes in it if this one is used up.
  void SkipEmpty();
  void Advance(size_t bytes);

  absl::Span<const absl::string_view> slices_;  // behind the current one
  const char* pos_ = nullptr;                   // in the current slice
  const char* end_ = nullptr;
  size_t size_ = 0;
  size_t remaining_ = 0;
  size_t unread_ = 0;  // bytes of the current field's value
  size_t field_ = 0;   // offset of the current field
  const char* error_ = nullptr;
  uint32_t tag_ = 0;
  uint64_t value_ = 0;
};

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_SLICE_READER_H_
