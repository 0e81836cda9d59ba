// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Shorthands for passing an absl::Status up the stack.

#ifndef REVERB_CC_SUPPORT_STATUS_MACROS_H_
#define REVERB_CC_SUPPORT_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define REVERB_CONCAT_INNER_(a, b) a##b
#define REVERB_CONCAT_(a, b) REVERB_CONCAT_INNER_(a, b)

// Returns from the enclosing function if `expr` is not OK.
#define REVERB_RETURN_IF_ERROR(expr)                                    \
  do {                                                                  \
    if (::absl::Status reverb_status_ = (expr); !reverb_status_.ok()) { \
      return reverb_status_;                                            \
    }                                                                   \
  } while (false)

// Assigns the value of a StatusOr to `lhs`, or returns its error.
#define REVERB_ASSIGN_OR_RETURN(lhs, expr) \
  REVERB_ASSIGN_OR_RETURN_(REVERB_CONCAT_(reverb_or_, __LINE__), lhs, expr)
// `tmp` and `lhs` may be declarations: no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define REVERB_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)
// NOLINTEND(bugprone-macro-parentheses)

#endif  // REVERB_CC_SUPPORT_STATUS_MACROS_H_
