// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Reads messages into records and writes them again, so that another protobuf
// implementation can compare what went in with what comes out.
//
// Request on stdin: length (uint32), one letter for the kind of message, the
// message. Answer on stdout: length (uint32), one byte of status code, the
// message or the error's text. Until stdin ends.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/messages.h"

namespace reverb::wire {
namespace {

using ChunkMap = std::map<ChunkKey, Ref<const Chunk>>;

// A chunk of these bytes, or an empty one that has the key at least.
Ref<const Chunk> MakeChunk(ChunkKey key, absl::string_view bytes) {
  auto copy = std::make_unique<char[]>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  Chunk::Header header;
  header.key = key;
  return MakeRef<const Chunk>(std::move(header), std::move(copy), bytes.size());
}

Ref<Item> MakeItem(const ItemMessage& message, ChunkMap& chunks) {
  Trajectory trajectory;
  for (const SliceMessage& slice : message.slices) {
    Ref<const Chunk>& chunk = chunks[slice.chunk_key];
    if (!chunk) chunk = MakeChunk(slice.chunk_key, "");
    trajectory.Add({chunk, slice.offset, slice.length, slice.index,
                    slice.ends_column, slice.squeeze});
  }
  return MakeRef<Item>(message.key, std::move(trajectory),
                       std::make_shared<const std::string>(message.extra));
}

absl::StatusOr<std::string> InsertRequest(absl::string_view bytes) {
  // In small pieces, as it may come from a socket.
  std::vector<absl::string_view> slices;
  for (size_t i = 0; i < bytes.size(); i += 13) {
    slices.push_back(bytes.substr(i, 13));
  }
  REVERB_ASSIGN_OR_RETURN(const InsertMessage message,
                          ParseInsertRequest(slices, Limits()));
  InsertRequestBuilder builder;
  ChunkMap chunks;
  for (const Ref<const Chunk>& chunk : message.chunks) builder.AddChunk(chunk);
  for (const ItemMessage& item : message.items) {
    builder.AddItem(item.table, item.priority, *MakeItem(item, chunks));
  }
  builder.SetKeepChunkKeys(message.keep_chunk_keys);
  builder.SetItemSeqs(message.item_seqs);
  if (message.wait_ms.has_value()) builder.SetWait(*message.wait_ms);
  return builder.Build().Flatten();
}

absl::StatusOr<std::string> InsertResponse(absl::string_view bytes) {
  REVERB_ASSIGN_OR_RETURN(const InsertDone done, ParseInsertResponse(bytes));
  return BuildInsertResponse(done);
}

absl::StatusOr<std::string> SampleRequest(absl::string_view bytes) {
  REVERB_ASSIGN_OR_RETURN(const SampleMessage message,
                          ParseSampleRequest(bytes));
  return BuildSampleRequest(message);
}

// Every entry must be a whole sample of one table.
absl::StatusOr<std::string> SampleResponse(absl::string_view bytes) {
  REVERB_ASSIGN_OR_RETURN(const std::vector<SampleEntry> entries,
                          ParseSampleResponse(bytes));
  SampleResponseBuilder builder(
      entries.empty() ? "" : entries[0].info.value().item.table);
  for (const SampleEntry& entry : entries) {
    ChunkMap chunks;
    for (absl::string_view chunk : entry.chunks) {
      REVERB_ASSIGN_OR_RETURN(const ChunkView view, ParseChunkView(chunk));
      chunks[view.key] = MakeChunk(view.key, chunk);
    }
    const SampleEntry::Info& info = entry.info.value();
    Ref<Item> item = MakeItem(info.item, chunks);
    item->set_inserted_at_nanos(info.inserted_at_nanos);
    Sample sample;
    sample.item = item;
    sample.probability = info.probability;
    sample.priority = info.item.priority;
    sample.table_size = info.table_size;
    sample.times_sampled = info.times_sampled;
    sample.rate_limited = info.rate_limited;
    builder.Add(sample);
  }
  std::string result;
  for (const Rope& message : builder.Take(true)) result += message.Flatten();
  return result;
}

absl::StatusOr<std::string> MutateRequest(absl::string_view bytes) {
  REVERB_ASSIGN_OR_RETURN(const MutateMessage message,
                          ParseMutateRequest(bytes));
  return BuildMutateRequest(message);
}

absl::StatusOr<std::string> ChunkData(absl::string_view bytes) {
  REVERB_ASSIGN_OR_RETURN(const ChunkView view, ParseChunkView(bytes));
  std::vector<EncodedTensor> tensors;
  for (const EncodedTensorView& tensor : view.tensors) {
    EncodedTensor& copy = tensors.emplace_back();
    copy.dtype = tensor.dtype;
    copy.dims = tensor.dims;
    copy.content = std::string(tensor.content);
  }
  return std::string(
      BuildChunk(view.key, view.range, view.delta_encoded, tensors)->bytes());
}

// One line per column, as people read it.
absl::StatusOr<std::string> SignatureLines(absl::string_view bytes) {
  REVERB_ASSIGN_OR_RETURN(const Signature signature, ParseSignature(bytes));
  std::string result;
  for (const TensorSpec& spec : signature) result += spec.ToString() + "\n";
  return result;
}

absl::StatusOr<std::string> Answer(char kind, absl::string_view bytes) {
  switch (kind) {
    case 'i':
      return InsertRequest(bytes);
    case 'I':
      return InsertResponse(bytes);
    case 's':
      return SampleRequest(bytes);
    case 'S':
      return SampleResponse(bytes);
    case 'm':
      return MutateRequest(bytes);
    case 'c':
      return ChunkData(bytes);
    case 'g':
      return SignatureLines(bytes);
    case 't':
      return SignatureText(bytes);
    default:
      return absl::UnimplementedError("unknown kind of message");
  }
}

bool Serve() {
  uint32_t size = 0;
  if (std::fread(&size, 4, 1, stdin) != 1) return false;
  std::string request(size, '\0');
  if (size == 0 || std::fread(request.data(), size, 1, stdin) != 1) {
    return false;
  }
  const auto answer = Answer(request[0], absl::string_view(request).substr(1));
  std::string response(1, static_cast<char>(answer.status().code()));
  response += answer.ok() ? *answer : std::string(answer.status().message());
  size = static_cast<uint32_t>(response.size());
  std::fwrite(&size, 4, 1, stdout);
  std::fwrite(response.data(), response.size(), 1, stdout);
  std::fflush(stdout);
  return true;
}

}  // namespace
}  // namespace reverb::wire

int main() {
  while (reverb::wire::Serve()) {
  }
}
