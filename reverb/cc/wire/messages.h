// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// The messages of the service, as records and as bytes: the one place that
// knows both (with data_messages.h).
//
// Parsers take a message as the slices it was received in. Payloads (chunks)
// are gathered once, into exact buffers; everything is bounded and checked:
// counts, depth (100), UTF-8, packed and unpacked numbers, last-one-wins or
// merge for repeated singular fields. Unknown fields are skipped, those of
// FlatTrajectory kept (`ItemMessage::extra`).
//
// Errors: InvalidArgument for bytes that are no such message,
// ResourceExhausted beyond a limit.
// Threads: thread-safe (pure functions).

#ifndef REVERB_CC_WIRE_MESSAGES_H_
#define REVERB_CC_WIRE_MESSAGES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/data/item.h"
#include "reverb/cc/table/table.h"
#include "reverb/cc/wire/limits.h"
#include "reverb/cc/wire/records.h"
#include "reverb/cc/wire/rope.h"

namespace reverb::wire {

// A received message: its bytes in order, borrowed.
using Slices = absl::Span<const absl::string_view>;

// ---- InsertStream
absl::StatusOr<InsertMessage> ParseInsertRequest(Slices message,
                                                 const Limits& limits);

// Builds one InsertStreamRequest; chunks are referenced, not copied.
class InsertRequestBuilder {
 public:
  void AddChunk(Ref<const Chunk> chunk);
  void AddItem(absl::string_view table, double priority, const Item& item);
  void SetKeepChunkKeys(absl::Span<const ChunkKey> keys);
  void SetItemSeqs(absl::Span<const uint64_t> numbers);
  void SetWait(int64_t milliseconds);

  size_t size() const { return rope_.size(); }  // bytes so far
  int num_items() const { return num_items_; }
  // The message; the builder begins another.
  Rope Build();

 private:
  Rope rope_;
  int num_items_ = 0;
};

std::string BuildInsertResponse(const InsertDone& done);
absl::StatusOr<InsertDone> ParseInsertResponse(absl::string_view message);

// ---- SampleStream
absl::StatusOr<SampleMessage> ParseSampleRequest(absl::string_view message);
std::string BuildSampleRequest(const SampleMessage& message);

// Builds the responses of a sample stream, split as spec/wire.md 8.2 says:
// several samples in a message, one sample over several messages.
class SampleResponseBuilder {
 public:
  explicit SampleResponseBuilder(absl::string_view table) : table_(table) {}
  void Add(const Sample& sample);
  // The finished messages; `flush` also ends the one under construction.
  std::vector<Rope> Take(bool flush);

 private:
  void EndMessage();

  std::string table_;
  Rope current_;
  size_t chunk_bytes_ = 0;  // in `current_`
  std::vector<Rope> finished_;
};

// What comes with the first entry of a sample.
struct SampleEntryInfo {
  ItemMessage item;  // of the item: key, priority, slices, extra
  int32_t times_sampled = 0;
  int64_t inserted_at_nanos = 0;
  double probability = 0;
  int64_t table_size = 0;
  bool rate_limited = false;
};

// One entry of a SampleStreamResponse, borrowed from the message.
struct SampleEntry {
  using Info = SampleEntryInfo;
  std::optional<Info> info;               // in the first entry of a sample
  std::vector<absl::string_view> chunks;  // ChunkData messages
  bool end_of_sequence = false;
};
absl::StatusOr<std::vector<SampleEntry>> ParseSampleResponse(
    absl::string_view message);

// ---- unary calls
absl::StatusOr<MutateMessage> ParseMutateRequest(absl::string_view message);
std::string BuildMutateRequest(const MutateMessage& message);

absl::StatusOr<std::string> ParseResetRequest(absl::string_view message);
std::string BuildResetRequest(absl::string_view table);

// An empty message with, at most, unknown fields.
absl::Status CheckEmptyRequest(absl::string_view message);

absl::StatusOr<std::string> ParseCheckpointResponse(absl::string_view message);

std::string BuildTableInfo(const Table::Info& info);
std::string BuildServerInfoResponse(const StateId& id,
                                    absl::Span<const Table::Info> tables);
absl::StatusOr<ServerInfoMessage> ParseServerInfoResponse(
    absl::string_view message);

// ---- InitializeConnection
absl::Status CheckInitializeConnectionRequest(absl::string_view message);

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_MESSAGES_H_
