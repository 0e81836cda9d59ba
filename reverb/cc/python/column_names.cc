// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/python/column_names.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/client.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/python/gil.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/support/error_info.h"

namespace reverb::python {
namespace {

// Whether a signature's column is the leaf at `path`: specs may add a name of
// their own to theirs.
bool IsColumnOf(absl::string_view column, absl::string_view path) {
  return column == path || (column.size() > path.size() &&
                            column.substr(0, path.size()) == path &&
                            (path.empty() || column[path.size()] == '/'));
}

std::string Quoted(const std::vector<std::string>& names) {
  return absl::StrCat("'", absl::StrJoin(names, "', '"), "'");
}

absl::Status WithText(const absl::Status& status, absl::string_view more,
                      const ErrorInfo& info) {
  return WithErrorInfo(
      absl::Status(status.code(),
                   CutStatusText(absl::StrCat(status.message(), " ", more))),
      info);
}

// The data has another number of columns than the signature: by name, which
// are too many and which are missing?
absl::Status NameDifference(const absl::Status& status, ErrorInfo info,
                            absl::Span<const std::string> names,
                            const Signature& signature) {
  std::vector<std::string> missing;
  std::vector<bool> known(names.size(), false);
  for (const TensorSpec& spec : signature) {
    bool found = false;
    for (size_t i = 0; i < names.size() && !found; ++i) {
      if (known[i] || !IsColumnOf(spec.name, names[i])) continue;
      known[i] = found = true;
    }
    if (!found) missing.push_back(spec.name);
  }
  std::vector<std::string> extra;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!known[i]) extra.push_back(names[i]);
  }
  std::string text = "By name:";
  if (!extra.empty()) {
    absl::StrAppend(&text, " ", Quoted(extra), " not in the signature");
  }
  if (!missing.empty()) {
    absl::StrAppend(&text, extra.empty() ? " " : ", ", Quoted(missing),
                    " not in the data");
  }
  info.column = extra.empty() ? missing.front() : extra.front();
  return WithText(status, absl::StrCat(text, "."), info);
}

// Comparing names takes the product of their counts.
constexpr size_t kMaxCompared = 2000;

// How long an error waits for better words.
constexpr double kSignatureSeconds = 1;

}  // namespace

std::shared_ptr<const Signature> KnownSignature(Client& client,
                                                absl::string_view table) {
  return WithoutGil([&]() -> std::shared_ptr<const Signature> {
    WaitOptions wait;
    wait.deadline = Clock::Real().Now();
    auto signature = client.TableSignature(table, wait);
    return signature.ok() ? *std::move(signature) : nullptr;
  });
}

absl::Status NameColumns(const absl::Status& status,
                         absl::Span<const std::string> names,
                         const Signature* signature) {
  if (status.ok()) return status;
  std::optional<ErrorInfo> info = GetErrorInfo(status);
  if (!info || info->column.empty()) return status;
  if (signature != nullptr && signature->size() != names.size() &&
      signature->size() + names.size() <= kMaxCompared) {
    return NameDifference(status, *info, names, *signature);
  }
  int64_t number;
  if (!absl::SimpleAtoi(info->column, &number) || number < 0 ||
      number >= static_cast<int64_t>(names.size()) || names[number].empty() ||
      names[number] == info->column) {
    return status;
  }
  info->column = names[number];
  return WithText(
      status, absl::StrCat("(Column ", number, " is '", names[number], "'.)"),
      *info);
}

absl::Status NameTableColumns(const absl::Status& status, Client& client,
                              absl::string_view table) {
  const std::optional<ErrorInfo> info = GetErrorInfo(status);
  if (!info || info->column.empty()) return status;
  const auto signature = WaitWithoutGil(
      DeadlineIn(kSignatureSeconds),
      [&](const WaitOptions& w) { return client.TableSignature(table, w); });
  if (!signature.ok() || *signature == nullptr) return status;
  std::vector<std::string> names;
  names.reserve((*signature)->size());
  for (const TensorSpec& spec : **signature) names.push_back(spec.name);
  return NameColumns(status, names, nullptr);
}

}  // namespace reverb::python
