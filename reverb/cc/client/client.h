// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// A client of one server address: the calls, and the makers of writers and
// samplers.
//
// Goes straight to the engine when the server is in this process
// (engine/registry.h), over gRPC otherwise; which, is decided call by call.
//
// Errors: as the server answers; Unavailable when the server that was lost
// hasn't come back within `reconnect_timeout`, or one that was never reached
// within `connect_timeout`; DeadlineExceeded when the caller's deadline
// passed; Cancelled when interrupted; FailedPrecondition in a forked child.
// Threads: thread-safe.

#ifndef REVERB_CC_CLIENT_CLIENT_H_
#define REVERB_CC_CLIENT_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/bulk_load.h"
#include "reverb/cc/client/sampler.h"
#include "reverb/cc/client/structured_writer.h"
#include "reverb/cc/client/trajectory_writer.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/client/writer.h"
#include "reverb/cc/table/table.h"
#include "reverb/cc/tensor/signature.h"
#include "reverb/cc/tensor/tensor.h"
#include "reverb/cc/wire/records.h"

namespace reverb {

class Client : public std::enable_shared_from_this<Client> {
 public:
  struct Options {
    std::string target;  // any gRPC target
    // Seconds; none: for ever.
    std::optional<double> connect_timeout = 300;
    std::optional<double> reconnect_timeout = 15;
    // Whether a server of this process is reached without gRPC.
    bool allow_in_process = true;
  };

  static std::shared_ptr<Client> Create(const Options& options);
  ~Client();

  const Options& options() const;

  // The way to the server as of now: "in_process", "unix" (its unix socket on
  // this host) or "tcp".
  absl::string_view transport() const;

  // One step of flat `columns`, and an item of length 1 per entry of
  // `priorities`, in order; waits until all are confirmed. A status of
  // DeadlineExceeded comes with what became of each table's item. `structure`
  // is stored with them (`Item::extra`).
  struct InsertOutcome {
    absl::Status status;
    std::vector<std::string> inserted;   // tables
    std::vector<std::string> withdrawn;  // tables: certainly not inserted
    std::vector<std::string> unknown;    // tables: may be inserted later
  };
  InsertOutcome Insert(
      absl::Span<const TensorView> columns,
      absl::Span<const std::pair<std::string, double>> priorities,
      std::optional<double> timeout, const WaitOptions& wait,
      const std::shared_ptr<const std::string>& structure = nullptr);

  absl::StatusOr<std::unique_ptr<Writer>> NewWriter(
      const Writer::Options& options, const WaitOptions& wait);
  // InvalidArgument for options out of range. Waits for the tables'
  // signatures if items are to be validated.
  absl::StatusOr<std::unique_ptr<TrajectoryWriter>> NewTrajectoryWriter(
      const TrajectoryWriter::Options& options, const WaitOptions& wait);
  // InvalidArgument for configs that make no sense. Never blocks.
  absl::StatusOr<std::unique_ptr<StructuredWriter>> NewStructuredWriter(
      std::vector<PatternConfig> configs);
  // As BulkLoad::Create; waits for the table's signature.
  absl::StatusOr<std::unique_ptr<BulkLoad>> NewBulkLoad(
      BulkLoad::Options options, absl::Span<const TensorView> columns,
      absl::Span<const uint8_t> ends, std::vector<double> priorities,
      const WaitOptions& wait);
  absl::StatusOr<std::unique_ptr<Sampler>> NewSampler(
      const Sampler::Options& options);

  absl::Status MutatePriorities(absl::string_view table,
                                absl::Span<const PriorityUpdate> updates,
                                absl::Span<const ItemKey> deletes,
                                const WaitOptions& wait);
  absl::Status Reset(absl::string_view table, const WaitOptions& wait);
  absl::StatusOr<std::string> Checkpoint(const WaitOptions& wait);
  absl::StatusOr<ServerInfoMessage> ServerInfo(const WaitOptions& wait);

  // The flat signature of `table` (null: the table has none), from a cache
  // that is filled by the first use, by every ServerInfo, and anew when the
  // table isn't known. InvalidArgument "Unable to find signatures for table
  // ..." with the tables there are.
  absl::StatusOr<std::shared_ptr<const Signature>> TableSignature(
      absl::string_view table, const WaitOptions& wait);

  // Ends all waiting calls and streams, and refuses later ones (Cancelled).
  void Close();

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

// May be called in a forked child; needs not, since support/fork_guard.h
// notices by itself.
void ForbidAfterFork();
// For the interpreter's exit: gives dropped writers 5 seconds together to
// insert what is pending, then ends all waiting calls of this process and
// refuses later ones (Cancelled).
void CloseAllClients();

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_CLIENT_H_
