// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/signature_cache.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/data_messages.h"

namespace reverb {

absl::StatusOr<ServerInfoMessage> SignatureCache::Fetch(
    const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(endpoint_->Check());
  REVERB_ASSIGN_OR_RETURN(ServerInfoMessage info,
                          endpoint_->backend()->ServerInfo(wait));
  absl::btree_map<std::string, Entry> tables;
  for (const ServerInfoMessage::TableEntry& table : info.tables) {
    Entry entry{.signature = std::shared_ptr<const Signature>(),
                .max_times_sampled = table.max_times_sampled};
    if (!table.signature.empty()) {
      auto signature = wire::ParseSignature(table.signature);
      if (signature.ok()) {
        entry.signature =
            std::make_shared<const Signature>(*std::move(signature));
      } else {
        entry.signature = absl::InvalidArgumentError(
            absl::StrCat("the signature of table '", table.name,
                         "' can't be read: ", signature.status().message()));
      }
    }
    tables.insert_or_assign(table.name, std::move(entry));
  }
  MutexLock lock(mu_);
  tables_.swap(tables);
  filled_ = true;
  return info;
}

std::optional<SignatureCache::Entry> SignatureCache::Look(
    absl::string_view table) {
  MutexLock lock(mu_);
  const auto found = tables_.find(table);
  if (found == tables_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<std::optional<SignatureCache::Entry>> SignatureCache::Get(
    absl::string_view table, const WaitOptions& wait) {
  if (auto entry = Look(table)) return entry;
  REVERB_RETURN_IF_ERROR(Fetch(wait).status());
  return Look(table);
}

bool SignatureCache::Knows(absl::string_view table) {
  MutexLock lock(mu_);
  return tables_.contains(table);
}

absl::StatusOr<std::shared_ptr<const Signature>> SignatureCache::Find(
    absl::string_view table, const WaitOptions& wait) {
  REVERB_ASSIGN_OR_RETURN(std::optional<Entry> entry, Get(table, wait));
  if (entry) return std::move(entry->signature);
  std::string names;
  {
    MutexLock lock(mu_);
    names = absl::StrJoin(tables_, ", ", [](std::string* out, const auto& t) {
      absl::StrAppend(out, "'", t.first, "'");
    });
  }
  return WithErrorInfo(
      absl::InvalidArgumentError(CutStatusText(absl::StrCat(
          "Unable to find signatures for table '", table,
          "' in signature cache.  Available tables: [", names, "]."))),
      {.table = std::string(table)});
}

absl::StatusOr<std::optional<int32_t>> SignatureCache::MaxTimesSampled(
    absl::string_view table, const WaitOptions& wait) {
  REVERB_ASSIGN_OR_RETURN(std::optional<Entry> entry, Get(table, wait));
  if (!entry) return std::optional<int32_t>();
  return std::optional<int32_t>(entry->max_times_sampled);
}

absl::Status SignatureCache::Fill(const WaitOptions& wait) {
  {
    MutexLock lock(mu_);
    if (filled_) return absl::OkStatus();
  }
  return Fetch(wait).status();
}

void SignatureCache::Forget() {
  MutexLock lock(mu_);
  tables_.clear();
  filled_ = false;
}

}  // namespace reverb
