// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// TableInfo and ServerInfoResponse.

#include <bit>
#include <cstdint>
#include <string>

#include <protozero/pbf_writer.hpp>

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/field_reader.h"
#include "reverb/cc/wire/messages.h"

namespace reverb::wire {
namespace {

using protozero::pbf_writer;

// proto3 leaves out zeros; protozero would write them.
void AddNumber(pbf_writer& out, uint32_t number, int64_t value) {
  if (value != 0) out.add_int64(number, value);
}

void AddDouble(pbf_writer& out, uint32_t number, double value) {
  if (std::bit_cast<uint64_t>(value) != 0) out.add_double(number, value);
}

// Nested messages are made first and then added: protozero's nested writers
// drop a message that turns out empty, which here means something.
template <typename Fn>
std::string Message(Fn&& fill) {
  std::string result;
  pbf_writer out(result);
  fill(out);
  return result;
}

std::string SelectorMessage(const SelectorOptions& options) {
  using Kind = SelectorOptions::Kind;
  return Message([&](pbf_writer& out) {
    switch (options.kind) {
      case Kind::kFifo:
        out.add_bool(1, true);
        break;
      case Kind::kUniform:
        out.add_bool(2, true);
        break;
      case Kind::kPrioritized:
        out.add_message(3, Message([&](pbf_writer& prioritized) {
                          AddDouble(prioritized, 1, options.priority_exponent);
                        }));
        break;
      case Kind::kMinHeap:
        out.add_message(
            4, Message([](pbf_writer& heap) { heap.add_bool(1, true); }));
        break;
      case Kind::kMaxHeap:
        out.add_message(4, std::string());  // the largest first
        break;
      case Kind::kLifo:
        out.add_bool(6, true);
        break;
    }
    if (options.IsDeterministic()) out.add_bool(7, true);
  });
}

std::string CallStatsMessage(int64_t completed) {
  return Message([&](pbf_writer& out) { AddNumber(out, 2, completed); });
}

std::string RateLimiterMessage(const Table::Info& info) {
  return Message([&](pbf_writer& out) {
    AddDouble(out, 1, info.rate_limiter.samples_per_insert);
    AddDouble(out, 2, info.rate_limiter.min_diff);
    AddDouble(out, 3, info.rate_limiter.max_diff);
    AddNumber(out, 4, info.rate_limiter.min_size_to_sample);
    out.add_message(5, CallStatsMessage(info.counters.inserts));
    out.add_message(6, CallStatsMessage(info.counters.samples));
  });
}

std::string WorkerTimeMessage(const Table::Info& info) {
  return Message([&](pbf_writer& out) {
    AddNumber(out, 2, info.sampling_ms);
    AddNumber(out, 3, info.inserting_ms);
    AddNumber(out, 4, info.sleeping_ms);
    AddNumber(out, 5, info.waiting_for_sampling_ms);
    AddNumber(out, 6, info.waiting_for_inserts_ms);
  });
}

absl::Status MergeStateId(absl::string_view bytes, StateId& id) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        id.high = in.varint();
        break;
      case Tag(2, kVarint):
        id.low = in.varint();
        break;
    }
  }
  return in.status("Uint128");
}

absl::Status ParseTableEntry(absl::string_view bytes,
                             ServerInfoMessage::TableEntry& entry) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(4, kVarint):
        entry.max_times_sampled = in.int32();
        break;
      case Tag(6, kBytes):
        // Two messages in a row are, as bytes, the message they merge to.
        entry.signature.append(in.bytes().data(), in.bytes().size());
        break;
      case Tag(8, kBytes):
        REVERB_RETURN_IF_ERROR(
            ReadString(in, "the name of a table", entry.name));
        break;
    }
  }
  entry.bytes.assign(bytes.data(), bytes.size());
  return in.status("TableInfo");
}

}  // namespace

std::string BuildTableInfo(const Table::Info& info) {
  return Message([&](pbf_writer& out) {
    out.add_message(1, SelectorMessage(info.sampler));
    out.add_message(2, SelectorMessage(info.remover));
    AddNumber(out, 3, info.max_size);
    AddNumber(out, 4, info.max_times_sampled);
    out.add_message(5, RateLimiterMessage(info));
    if (!info.signature.empty()) out.add_message(6, info.signature);
    AddNumber(out, 7, info.current_size);
    if (!info.name.empty()) out.add_string(8, info.name);
    AddNumber(out, 9, info.num_episodes);
    AddNumber(out, 10, info.num_deleted_episodes);
    AddNumber(out, 11, info.num_unique_samples);
    out.add_message(12, WorkerTimeMessage(info));
  });
}

std::string BuildServerInfoResponse(const StateId& id,
                                    absl::Span<const Table::Info> tables) {
  return Message([&](pbf_writer& out) {
    out.add_message(1, Message([&](pbf_writer& state_id) {
                      if (id.high != 0) state_id.add_uint64(1, id.high);
                      if (id.low != 0) state_id.add_uint64(2, id.low);
                    }));
    for (const Table::Info& info : tables) {
      out.add_message(2, BuildTableInfo(info));
    }
  });
}

absl::StatusOr<ServerInfoMessage> ParseServerInfoResponse(
    absl::string_view message) {
  ServerInfoMessage result;
  FieldReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes):
        REVERB_RETURN_IF_ERROR(MergeStateId(in.bytes(), result.state_id));
        break;
      case Tag(2, kBytes):
        REVERB_RETURN_IF_ERROR(
            ParseTableEntry(in.bytes(), result.tables.emplace_back()));
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("ServerInfoResponse"));
  return result;
}

}  // namespace reverb::wire
