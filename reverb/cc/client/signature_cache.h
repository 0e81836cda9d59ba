// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// What a client knows about the server's tables.
//
// Filled when first needed, by every `Fetch`, and anew when a table isn't
// known.
//
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_SIGNATURE_CACHE_H_
#define REVERB_CC_CLIENT_SIGNATURE_CACHE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/client/endpoint.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/support/mutex.h"
#include "reverb/cc/tensor/signature.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

class SignatureCache {
 public:
  explicit SignatureCache(std::shared_ptr<Endpoint> endpoint)
      : endpoint_(std::move(endpoint)) {}

  // Asks the server and remembers the answer.
  absl::StatusOr<ServerInfoMessage> Fetch(const WaitOptions& wait);

  // The signature of `table`, null if it has none. InvalidArgument if the
  // server has no such table, or a signature that can't be read.
  absl::StatusOr<std::shared_ptr<const Signature>> Find(
      absl::string_view table, const WaitOptions& wait);

  // Whether `Find` needs no question to the server.
  bool Knows(absl::string_view table);

  // Nothing if the server has no such table.
  absl::StatusOr<std::optional<int32_t>> MaxTimesSampled(
      absl::string_view table, const WaitOptions& wait);

  // Asks the server if nothing is known yet.
  absl::Status Fill(const WaitOptions& wait);

  // The server has turned out not to be as it was.
  void Forget();

 private:
  struct Entry {
    absl::StatusOr<std::shared_ptr<const Signature>> signature;
    int32_t max_times_sampled = 0;
  };
  std::optional<Entry> Look(absl::string_view table);
  // `Look`, after a question to the server if need be.
  absl::StatusOr<std::optional<Entry>> Get(absl::string_view table,
                                           const WaitOptions& wait);

  const std::shared_ptr<Endpoint> endpoint_;
  Mutex mu_;
  bool filled_ ABSL_GUARDED_BY(mu_) = false;
  absl::btree_map<std::string, Entry> tables_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SIGNATURE_CACHE_H_
