// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Whether configs of a structured writer make sense. Rules of spec/api.md
// sections 13.2 to 13.4.

#ifndef REVERB_CC_CLIENT_PATTERN_CHECK_H_
#define REVERB_CC_CLIENT_PATTERN_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "reverb/cc/wire/pattern_config.h"

namespace reverb {

// InvalidArgument that names the config's position and, of a pattern, the
// column: "configs[0], column 2 of the pattern: ...".
absl::Status CheckPatternConfigs(absl::Span<const PatternConfig> configs);

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_PATTERN_CHECK_H_
