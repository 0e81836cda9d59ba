// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The content of a string tensor: N varint lengths, then the N byte strings.

#ifndef REVERB_CC_CODEC_STRING_CONTENT_H_
#define REVERB_CC_CODEC_STRING_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace reverb {

void EncodeStrings(absl::Span<const absl::string_view> strings,
                   std::string& out);

// One length of the first part, for those who write content piece by piece.
void AppendStringLength(size_t length, std::string& out);

// The `num_strings` strings in `content`, borrowed from it. DataLoss unless
// lengths and bytes add up exactly.
absl::StatusOr<std::vector<absl::string_view>> DecodeStrings(
    int64_t num_strings, absl::string_view content);

}  // namespace reverb

#endif  // REVERB_CC_CODEC_STRING_CONTENT_H_
