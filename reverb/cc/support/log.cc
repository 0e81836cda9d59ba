// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/support/log.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace reverb {
namespace {

LogLevel LeastLevel() {
  const char* text = std::getenv("REVERB_LOG");
  const absl::string_view level = text == nullptr ? "" : text;
  if (level == "info") return LogLevel::kInfo;
  if (level == "error") return LogLevel::kError;
  if (level == "none") return LogLevel::kNone;
  return LogLevel::kWarning;
}

}  // namespace

void Log(LogLevel level, absl::string_view text) {
  static const LogLevel least = LeastLevel();
  if (level < least || level == LogLevel::kNone) return;
  static constexpr absl::string_view kNames[] = {"info", "warning", "error"};
  const std::string line = absl::StrCat(
      "[reverb ", kNames[static_cast<int>(level)], "] ", text, "\n");
  // Nothing sensible can be done where stderr is gone.
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace reverb
