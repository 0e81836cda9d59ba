// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// SampleStreamRequest and SampleStreamResponse.

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/append.h"
#include "reverb/cc/wire/field_reader.h"
#include "reverb/cc/wire/field_writer.h"
#include "reverb/cc/wire/item_message.h"
#include "reverb/cc/wire/messages.h"

namespace reverb::wire {
namespace {

constexpr char kResponse[] = "SampleStreamResponse";

// A message whose chunks are larger than this takes no more of them.
constexpr size_t kMessageBytes = size_t{2} << 20;

// Entries in one response; an empty one is two bytes on the wire and a
// hundred times that as a record.
constexpr size_t kMaxEntries = 1'000'000;

constexpr int64_t kNanosPerSecond = 1'000'000'000;

absl::Status MergeTimeout(absl::string_view bytes, int64_t& milliseconds) {
  FieldReader in(bytes);
  while (in.Next()) {
    if (in.tag() == Tag(1, kVarint)) milliseconds = in.int64();
  }
  return in.status("Timeout");
}

ItemState StateOf(const Sample& sample) {
  const int64_t nanos = sample.item->inserted_at_nanos();
  ItemState state;
  state.times_sampled = sample.times_sampled;
  state.inserted_at_seconds = nanos / kNanosPerSecond;
  state.inserted_at_nanos = static_cast<int32_t>(nanos % kNanosPerSecond);
  if (state.inserted_at_nanos < 0) {  // nanos count forward, also before 1970
    state.inserted_at_nanos += kNanosPerSecond;
    --state.inserted_at_seconds;
  }
  return state;
}

// Saturates: a peer may send any numbers.
int64_t NanosOf(const ItemState& state) {
  int64_t nanos = 0;
  if (__builtin_mul_overflow(state.inserted_at_seconds, kNanosPerSecond,
                             &nanos) ||
      __builtin_add_overflow(nanos, state.inserted_at_nanos, &nanos)) {
    return state.inserted_at_seconds < 0 ? std::numeric_limits<int64_t>::min()
                                         : std::numeric_limits<int64_t>::max();
  }
  return nanos;
}

// A client has no limits of its own for what a server's items look like.
const Limits& ReaderLimits() {
  static constexpr Limits kLimits = [] {
    Limits limits;
    limits.max_columns = 1'000'000;
    limits.max_slices_per_item = 10'000'000;
    return limits;
  }();
  return kLimits;
}

// `state` is that of the entry's item, so far.
absl::Status MergeInfo(absl::string_view bytes, ItemState& state,
                       SampleEntry::Info& info) {
  ItemParser item(ReaderLimits(), info.item, &state);
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        REVERB_RETURN_IF_ERROR(item.Merge(in.bytes()));
        info.times_sampled = state.times_sampled;
        info.inserted_at_nanos = NanosOf(state);
        break;
      case Tag(2, kFixed64):
        info.probability = in.float64();
        break;
      case Tag(3, kVarint):
        info.table_size = in.int64();
        break;
      case Tag(4, kVarint):
        info.rate_limited = in.boolean();
        break;
    }
  }
  return in.status("SampleInfo");
}

absl::Status ParseEntry(absl::string_view bytes, SampleEntry& entry) {
  ItemState state;
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        if (!entry.info.has_value()) entry.info.emplace();
        REVERB_RETURN_IF_ERROR(MergeInfo(in.bytes(), state, *entry.info));
        break;
      case Tag(2, kBytes):
        entry.chunks.push_back(in.bytes());
        break;
      case Tag(3, kVarint):
        entry.end_of_sequence = in.boolean();
        break;
    }
  }
  return in.status("SampleStreamResponse.SampleEntry");
}

}  // namespace

absl::StatusOr<SampleMessage> ParseSampleRequest(absl::string_view message) {
  SampleMessage result;
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        REVERB_RETURN_IF_ERROR(
            ReadString(in, "the name of the table", result.table));
        break;
      case Tag(2, kVarint):
        result.num_samples = in.int64();
        break;
      case Tag(3, kBytes):
        if (!result.timeout_ms.has_value()) result.timeout_ms = 0;
        REVERB_RETURN_IF_ERROR(MergeTimeout(in.bytes(), *result.timeout_ms));
        break;
      case Tag(1001, kVarint):
        result.try_once = in.boolean();
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("SampleStreamRequest"));
  if (result.num_samples <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`num_samples` must be > 0 (got ", result.num_samples, ")."));
  }
  if (result.num_samples > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "`num_samples` must be < 2^31 (got ", result.num_samples, ")."));
  }
  return result;
}

std::string BuildSampleRequest(const SampleMessage& message) {
  const size_t timeout_size =
      NumberSize(1, SignedVarint(message.timeout_ms.value_or(0)));
  size_t size = StringSize(1, message.table) +
                NumberSize(2, SignedVarint(message.num_samples)) +
                NumberSize(1001, message.try_once);
  if (message.timeout_ms.has_value()) size += MessageSize(3, timeout_size);
  std::string result;
  AppendFields(size, result, [&](FieldWriter& out) {
    out.String(1, message.table);
    out.Number(2, SignedVarint(message.num_samples));
    if (message.timeout_ms.has_value()) {
      out.Begin(3, timeout_size);
      out.Number(1, SignedVarint(*message.timeout_ms));
    }
    out.Number(1001, message.try_once);
  });
  return result;
}

void SampleResponseBuilder::Add(const Sample& sample) {
  if (chunk_bytes_ > kMessageBytes) EndMessage();

  std::vector<const Ref<const Chunk>*> chunks;
  sample.item->trajectory().ForEachChunk(
      [&chunks](const Ref<const Chunk>& chunk) { chunks.push_back(&chunk); });

  const ItemState state = StateOf(sample);
  const ItemFields item{*sample.item, table_, sample.priority, &state};
  const size_t item_size = ItemSize(item);
  const size_t info_size = MessageSize(1, item_size) +
                           DoubleSize(2, sample.probability) +
                           NumberSize(3, SignedVarint(sample.table_size)) +
                           NumberSize(4, sample.rate_limited);

  size_t next = 0;  // chunk
  bool first = true;
  bool last = false;
  while (!last) {
    const size_t begin = next;
    size_t entry_size = first ? MessageSize(1, info_size) : 0;
    while (next < chunks.size() &&
           (next == begin || chunk_bytes_ <= kMessageBytes)) {
      const size_t size = (*chunks[next++])->bytes().size();
      entry_size += MessageSize(2, size);
      chunk_bytes_ += size;
    }
    last = next == chunks.size();
    entry_size += NumberSize(3, last);

    const size_t header_size = MessageSize(1, entry_size) - entry_size;
    AppendFields(header_size + (first ? MessageSize(1, info_size) : 0),
                 current_.Text(), [&](FieldWriter& out) {
                   out.Begin(1, entry_size);
                   if (!first) return;
                   out.Begin(1, info_size);
                   out.Begin(1, item_size);
                   WriteItem(item, out);
                   out.Double(2, sample.probability);
                   out.Number(3, SignedVarint(sample.table_size));
                   out.Number(4, sample.rate_limited);
                 });
    for (size_t i = begin; i < next; ++i) {
      AppendChunkField(2, *chunks[i], current_);
    }
    if (last) {
      AppendFields(NumberSize(3, 1), current_.Text(),
                   [](FieldWriter& out) { out.Number(3, 1); });
    } else {
      EndMessage();
    }
    first = false;
  }
}

std::vector<Rope> SampleResponseBuilder::Take(bool flush) {
  if (flush || chunk_bytes_ > kMessageBytes) EndMessage();
  return std::exchange(finished_, {});
}

void SampleResponseBuilder::EndMessage() {
  if (!current_.empty()) finished_.push_back(std::exchange(current_, Rope()));
  chunk_bytes_ = 0;
}

absl::StatusOr<std::vector<SampleEntry>> ParseSampleResponse(
    absl::string_view message) {
  size_t count = 0;
  FieldReader counter(message);
  while (counter.Next()) {
    if (counter.tag() == Tag(1, kBytes)) ++count;
  }
  REVERB_RETURN_IF_ERROR(counter.status(kResponse));
  if (count > kMaxEntries) {
    return LimitError("entries in one response", kMaxEntries,
                      static_cast<int64_t>(count));
  }
  std::vector<SampleEntry> result;
  result.reserve(count);
  FieldReader in(message);
  while (in.Next()) {
    if (in.tag() != Tag(1, kBytes)) continue;
    REVERB_RETURN_IF_ERROR(ParseEntry(in.bytes(), result.emplace_back()));
  }
  return result;
}

}  // namespace reverb::wire
