// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// InsertStreamRequest and InsertStreamResponse.

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/append.h"
#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/field_reader.h"
#include "reverb/cc/wire/field_writer.h"
#include "reverb/cc/wire/item_message.h"
#include "reverb/cc/wire/messages.h"
#include "reverb/cc/wire/slice_reader.h"

namespace reverb::wire {
namespace {

constexpr char kRequest[] = "InsertStreamRequest";
constexpr char kResponse[] = "InsertStreamResponse";

// A first pass over the top-level fields: nothing is allocated for a message
// that is malformed or beyond a limit, and the lists are made once.
absl::Status CheckAndReserve(Slices message, const Limits& limits,
                             InsertMessage& result) {
  SliceReader in(message);
  if (in.remaining() > static_cast<uint64_t>(limits.max_message_bytes)) {
    return LimitError("bytes in one message", limits.max_message_bytes,
                      static_cast<int64_t>(in.remaining()));
  }
  size_t chunks = 0;
  size_t items = 0;
  while (in.Next()) {
    if (in.tag() == Tag(1, kBytes)) ++chunks;
    if (in.tag() == Tag(2, kBytes)) ++items;
  }
  REVERB_RETURN_IF_ERROR(in.status(kRequest));
  if (static_cast<int64_t>(items) > limits.max_items_per_message) {
    return LimitError("items in one message", limits.max_items_per_message,
                      static_cast<int64_t>(items));
  }
  result.chunks.reserve(chunks);
  result.items.reserve(items);
  return absl::OkStatus();
}

// The one copy of a chunk's bytes between the socket and the table: holding
// on to the transport's slices instead would keep many times their size alive.
absl::StatusOr<Ref<const Chunk>> GatherChunk(SliceReader& in) {
  const size_t size = in.length();
  std::unique_ptr<char[]> bytes(new (std::nothrow) char[size]);
  if (bytes == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a chunk of ", size, " bytes"));
  }
  in.CopyTo(bytes.get());
  return ParseChunk(std::move(bytes), size);
}

absl::Status MergeWait(absl::string_view bytes, int64_t& milliseconds) {
  FieldReader in(bytes);
  while (in.Next()) {
    if (in.tag() == Tag(1, kVarint)) milliseconds = in.int64();
  }
  REVERB_RETURN_IF_ERROR(in.status("Timeout"));
  if (milliseconds < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("`wait` is negative: ", milliseconds, " ms"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InsertMessage> ParseInsertRequest(Slices message,
                                                 const Limits& limits) {
  InsertMessage result;
  REVERB_RETURN_IF_ERROR(CheckAndReserve(message, limits, result));
  std::string scratch;
  SliceReader in(message);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kBytes): {
        REVERB_ASSIGN_OR_RETURN(Ref<const Chunk> chunk, GatherChunk(in));
        result.chunks.push_back(std::move(chunk));
        break;
      }
      case Tag(2, kBytes): {
        ItemMessage& item = result.items.emplace_back();
        ItemParser parser(limits, item, /*state=*/nullptr);
        if (absl::Status status = parser.Merge(in.Bytes(scratch));
            !status.ok()) {
          return Annotate(std::move(status),
                          absl::StrCat("item ", result.items.size() - 1,
                                       " (key ", item.key, ")"));
        }
        break;
      }
      case Tag(3, kBytes):
        if (!AppendPacked(in.Bytes(scratch), result.keep_chunk_keys)) {
          return absl::InvalidArgumentError("malformed keep_chunk_keys");
        }
        break;
      case Tag(3, kVarint):
        result.keep_chunk_keys.push_back(in.varint());
        break;
      case Tag(1000, kBytes):
        if (!AppendPacked(in.Bytes(scratch), result.item_seqs)) {
          return absl::InvalidArgumentError("malformed item_seqs");
        }
        break;
      case Tag(1000, kVarint):
        result.item_seqs.push_back(in.varint());
        break;
      case Tag(1001, kBytes):
        if (!result.wait_ms.has_value()) result.wait_ms = 0;
        REVERB_RETURN_IF_ERROR(MergeWait(in.Bytes(scratch), *result.wait_ms));
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status(kRequest));
  return result;
}

void InsertRequestBuilder::AddChunk(Ref<const Chunk> chunk) {
  AppendChunkField(1, std::move(chunk), rope_);
}

void InsertRequestBuilder::AddItem(absl::string_view table, double priority,
                                   const Item& item) {
  const ItemFields fields{item, table, priority, /*state=*/nullptr};
  const size_t size = ItemSize(fields);
  AppendFields(MessageSize(2, size), rope_.Text(), [&](FieldWriter& out) {
    out.Begin(2, size);
    WriteItem(fields, out);
  });
  ++num_items_;
}

void InsertRequestBuilder::SetKeepChunkKeys(absl::Span<const ChunkKey> keys) {
  AppendPackedField(3, keys, rope_.Text());
}

void InsertRequestBuilder::SetItemSeqs(absl::Span<const uint64_t> numbers) {
  AppendPackedField(1000, numbers, rope_.Text());
}

void InsertRequestBuilder::SetWait(int64_t milliseconds) {
  const size_t size = NumberSize(1, SignedVarint(milliseconds));
  AppendFields(MessageSize(1001, size), rope_.Text(), [&](FieldWriter& out) {
    out.Begin(1001, size);
    out.Number(1, SignedVarint(milliseconds));
  });
}

Rope InsertRequestBuilder::Build() {
  num_items_ = 0;
  return std::exchange(rope_, Rope());
}

std::string BuildInsertResponse(const InsertDone& done) {
  std::string result;
  AppendPackedField(1, done.confirmed, result);
  AppendPackedField(1000, done.refused, result);
  return result;
}

absl::StatusOr<InsertDone> ParseInsertResponse(absl::string_view message) {
  InsertDone result;
  FieldReader in(message);
  while (in.Next()) {
    bool ok = true;
    switch (in.tag()) {
      case Tag(1, kBytes):
        ok = AppendPacked(in.bytes(), result.confirmed);
        break;
      case Tag(1, kVarint):
        result.confirmed.push_back(in.varint());
        break;
      case Tag(1000, kBytes):
        ok = AppendPacked(in.bytes(), result.refused);
        break;
      case Tag(1000, kVarint):
        result.refused.push_back(in.varint());
        break;
    }
    if (!ok) {
      return absl::InvalidArgumentError(
          absl::StrCat("not a valid ", kResponse, ": malformed keys"));
    }
  }
  REVERB_RETURN_IF_ERROR(in.status(kResponse));
  return result;
}

}  // namespace reverb::wire
