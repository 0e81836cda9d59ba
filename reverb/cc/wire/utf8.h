// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Whether bytes are text as protobuf's `string` fields demand it.

#ifndef REVERB_CC_WIRE_UTF8_H_
#define REVERB_CC_WIRE_UTF8_H_

#include "absl/strings/string_view.h"

namespace reverb::wire {

// UTF-8 in its shortest form, without surrogates, up to U+10FFFF.
bool IsUtf8(absl::string_view bytes);

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_UTF8_H_
