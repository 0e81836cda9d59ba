// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Lines for people on stderr, quiet unless something needs attention.
//
// REVERB_LOG = info | warning | error | none chooses the least level shown;
// warning without it. Threads: thread-safe; a line is written in one piece.

#ifndef REVERB_CC_SUPPORT_LOG_H_
#define REVERB_CC_SUPPORT_LOG_H_

#include "absl/strings/string_view.h"

namespace reverb {

enum class LogLevel { kInfo, kWarning, kError, kNone };

void Log(LogLevel level, absl::string_view text);

inline void LogInfo(absl::string_view text) { Log(LogLevel::kInfo, text); }
inline void LogWarning(absl::string_view text) {
  Log(LogLevel::kWarning, text);
}
inline void LogError(absl::string_view text) { Log(LogLevel::kError, text); }

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_LOG_H_
