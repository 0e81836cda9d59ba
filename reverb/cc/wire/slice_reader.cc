// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/slice_reader.h"

#include <algorithm>
#include <cstring>

namespace reverb::wire {

SliceReader::SliceReader(absl::Span<const absl::string_view> slices)
    : slices_(slices) {
  for (absl::string_view slice : slices) size_ += slice.size();
  remaining_ = size_;
  SkipEmpty();
}

bool SliceReader::Next() {
  if (error_ != nullptr) return false;
  Skip(unread_);
  unread_ = 0;
  if (remaining_ == 0) return false;
  field_ = size_ - remaining_;
  uint64_t tag = 0;
  if (!ReadVarint(tag)) return Fail(kBadNumber);
  if (!IsTag(tag)) return Fail(kBadTag);
  tag_ = static_cast<uint32_t>(tag);
  switch (tag & 7) {
    case kVarint:
      return ReadVarint(value_) || Fail(kBadNumber);
    case kFixed64:
      return Skip(8) || Fail(kCutShort);
    case kFixed32:
      return Skip(4) || Fail(kCutShort);
    case kBytes:
      if (!ReadVarint(value_)) return Fail(kBadNumber);
      if (value_ > remaining_) return Fail(kBadLength);
      unread_ = static_cast<size_t>(value_);
      return true;
    case kStartGroup: {
      const char* error = SkipGroup(*this, tag_ >> 3);
      return error == nullptr || Fail(error);
    }
    default:
      return Fail(kBadGroup);
  }
}

absl::string_view SliceReader::Bytes(std::string& scratch) {
  const size_t length = unread_;
  if (length <= static_cast<size_t>(end_ - pos_)) {
    const absl::string_view bytes(pos_, length);
    Skip(length);
    unread_ = 0;
    return bytes;
  }
  scratch.resize(length);
  CopyTo(scratch.data());
  return scratch;
}

void SliceReader::CopyTo(char* out) {
  while (unread_ > 0) {
    const size_t part = std::min(unread_, static_cast<size_t>(end_ - pos_));
    std::copy_n(pos_, part, out);
    out += part;
    unread_ -= part;
    Advance(part);
  }
}

absl::Status SliceReader::status(absl::string_view message) const {
  if (error_ == nullptr) return absl::OkStatus();
  return MalformedError(message, error_, field_);
}

bool SliceReader::ReadVarint(uint64_t& value) {
  const char* pos = pos_;
  if (wire::ReadVarint(pos, end_, value)) {
    Advance(static_cast<size_t>(pos - pos_));
    return true;
  }
  // It may go on in the next slice.
  char bytes[10];
  size_t count = 0;
  do {
    if (remaining_ == 0 || count == sizeof(bytes)) return false;
    bytes[count++] = *pos_;
    Advance(1);
  } while (static_cast<int8_t>(bytes[count - 1]) < 0);
  pos = bytes;
  return wire::ReadVarint(pos, bytes + count, value);
}

bool SliceReader::Skip(uint64_t bytes) {
  if (bytes > remaining_) return false;
  while (bytes > 0) {
    const size_t part =
        std::min<size_t>(bytes, static_cast<size_t>(end_ - pos_));
    Advance(part);
    bytes -= part;
  }
  return true;
}

void SliceReader::SkipEmpty() {
  while (pos_ == end_ && !slices_.empty()) {
    pos_ = slices_.front().data();
    end_ = pos_ + slices_.front().size();
    slices_.remove_prefix(1);
  }
}

void SliceReader::Advance(size_t bytes) {
  pos_ += bytes;
  remaining_ -= bytes;
  SkipEmpty();
}

}  // namespace reverb::wire
