// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Raw snappy blocks, the compression of every numeric tensor on the wire.
//
// Errors: DataLoss for bytes that are no valid block of the expected size.

#ifndef REVERB_CC_CODEC_SNAPPY_BLOCK_H_
#define REVERB_CC_CODEC_SNAPPY_BLOCK_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace reverb {

// Appends `raw`, compressed, to `out`. raw.size() < 2^32.
void SnappyCompress(absl::string_view raw, std::string& out);

// Appends `raw` as one snappy literal: a valid block that costs a memcpy to
// write and to read. For data that doesn't compress.
void SnappyStore(absl::string_view raw, std::string& out);

// One or the other: looks at two pieces of `raw` and stores what would not
// become smaller by a sixteenth. raw.size() < 2^32.
void SnappyPack(absl::string_view raw, std::string& out);

// The size the block says it has when uncompressed, if it can be true: no
// more than what so many bytes can stand for.
absl::StatusOr<size_t> SnappyRawSize(absl::string_view block);

// Uncompresses `block` into exactly `out`.
absl::Status SnappyUncompress(absl::string_view block, absl::Span<char> out);

// The raw bytes, borrowed from `block`, if it is one literal as `SnappyStore`
// writes it; nothing for every other block.
std::optional<absl::string_view> SnappyLiteral(absl::string_view block);

}  // namespace reverb

#endif  // REVERB_CC_CODEC_SNAPPY_BLOCK_H_
