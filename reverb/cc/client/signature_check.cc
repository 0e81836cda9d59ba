// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/signature_check.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/support/error_info.h"

namespace reverb {
namespace {

std::string Describe(const CellSpec& cell) {
  return absl::StrCat(DTypeName(cell.dtype), " ", ShapeString(cell.dims));
}

std::string ColumnName(const Signature& signature, size_t i) {
  if (i < signature.size() && !signature[i].name.empty()) {
    return signature[i].name;
  }
  return absl::StrCat(i);
}

absl::Status WrongCount(absl::string_view table, const Signature& signature,
                        absl::Span<const CellSpec> step) {
  std::string text = absl::StrCat("The data has ", step.size(),
                                  " columns but the signature of table '",
                                  table, "' has ", signature.size(), ". ");
  std::string first;
  if (step.size() < signature.size()) {
    absl::StrAppend(&text, "Missing: ");
    first = ColumnName(signature, step.size());
    for (size_t i = step.size(); i < signature.size(); ++i) {
      absl::StrAppend(&text, i == step.size() ? "" : ", ",
                      signature[i].ToString());
    }
  } else {
    absl::StrAppend(&text, "Too many: ");
    first = absl::StrCat(signature.size());
    for (size_t i = signature.size(); i < step.size(); ++i) {
      absl::StrAppend(&text, i == signature.size() ? "column " : ", column ", i,
                      " (", Describe(step[i]), ")");
    }
  }
  absl::StrAppend(&text, ".");
  return WithErrorInfo(absl::InvalidArgumentError(CutStatusText(text)),
                       {.table = std::string(table),
                        .column = first,
                        .limit = absl::StrCat(signature.size()),
                        .actual = absl::StrCat(step.size())});
}

absl::Status DoesNotFit(absl::string_view table, const Signature& signature,
                        size_t column, const CellSpec& cell,
                        absl::string_view expected_how) {
  const std::string name = ColumnName(signature, column);
  const TensorSpec& spec = signature[column];
  return WithErrorInfo(
      absl::InvalidArgumentError(CutStatusText(absl::StrCat(
          "Column '", name, "' does not fit the signature of table '", table,
          "': got ", Describe(cell), ", expected ", spec.ToString(),
          expected_how, "."))),
      {.table = std::string(table),
       .column = name,
       .limit = spec.ToString(),
       .actual = Describe(cell)});
}

}  // namespace

absl::Status CheckStep(absl::string_view table, const Signature& signature,
                       absl::Span<const CellSpec> step, int64_t num_timesteps) {
  if (step.size() != signature.size()) {
    return WrongCount(table, signature, step);
  }
  for (size_t i = 0; i < step.size(); ++i) {
    const TensorSpec& spec = signature[i];
    const CellSpec& cell = step[i];
    if (cell.dtype == spec.dtype &&
        (spec.Fits(cell.dims) || spec.FitsRows(num_timesteps, cell.dims))) {
      continue;
    }
    return DoesNotFit(table, signature, i, cell,
                      absl::StrCat(", per step or for all ", num_timesteps,
                                   " steps of the item"));
  }
  return absl::OkStatus();
}

absl::Status CheckColumns(absl::string_view table, const Signature& signature,
                          absl::Span<const CellSpec> columns) {
  if (columns.size() != signature.size()) {
    return WrongCount(table, signature, columns);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].dtype == signature[i].dtype &&
        signature[i].Fits(columns[i].dims)) {
      continue;
    }
    return DoesNotFit(table, signature, i, columns[i], "");
  }
  return absl::OkStatus();
}

absl::Status CheckPriorityIsNumber(absl::string_view table, double priority) {
  if (!std::isnan(priority)) return absl::OkStatus();
  return WithErrorInfo(
      absl::InvalidArgumentError(
          absl::StrCat("`priority` must not be NaN (table '", table, "').")),
      {.table = std::string(table), .actual = "nan"});
}

}  // namespace reverb
