// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/rpc/byte_buffer.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/support/ref.h"

namespace reverb::rpc {
namespace {

// Up to this size a copy is cheaper than a slice with an owner of its own:
// what gRPC inlines, and a little more.
constexpr size_t kCopyUpTo = 256;  // bytes

void ReleaseChunk(void* chunk) {
  Ref<const Chunk>::Adopt(static_cast<const Chunk*>(chunk));
}

void DeleteText(void* text) { delete static_cast<std::string*>(text); }

grpc::Slice TextSlice(std::string text) {
  if (text.size() <= kCopyUpTo) return grpc::Slice(text.data(), text.size());
  auto* owned = new std::string(std::move(text));
  return grpc::Slice(owned->data(), owned->size(), DeleteText, owned);
}

grpc::Slice ChunkSlice(Ref<const Chunk> chunk) {
  const absl::string_view bytes = chunk->bytes();
  if (bytes.size() <= kCopyUpTo) return grpc::Slice(bytes.data(), bytes.size());
  // gRPC's interface takes no const, but doesn't write either.
  auto* owner = const_cast<Chunk*>(chunk.Leak());
  return grpc::Slice(const_cast<char*>(bytes.data()), bytes.size(),
                     ReleaseChunk, owner);
}

}  // namespace

grpc::ByteBuffer ToByteBuffer(Rope message) {
  std::vector<Rope::Piece> pieces = message.TakePieces();
  std::vector<grpc::Slice> slices;
  slices.reserve(pieces.size());
  for (Rope::Piece& piece : pieces) {
    slices.push_back(piece.chunk ? ChunkSlice(std::move(piece.chunk))
                                 : TextSlice(std::move(piece.text)));
  }
  // An empty message is still a message: gRPC calls a buffer without a slice
  // invalid.
  if (slices.empty()) slices.emplace_back();
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc::ByteBuffer ToByteBuffer(std::string message) {
  const grpc::Slice slice = TextSlice(std::move(message));
  return grpc::ByteBuffer(&slice, 1);
}

ReceivedMessage::ReceivedMessage(grpc::ByteBuffer& buffer) {
  if (buffer.Valid() && buffer.Dump(&slices_).ok()) {
    views_.reserve(slices_.size());
    for (const grpc::Slice& slice : slices_) {
      if (slice.size() == 0) continue;
      views_.emplace_back(reinterpret_cast<const char*>(slice.begin()),
                          slice.size());
      size_ += slice.size();
    }
  }
  buffer.Clear();
}

absl::string_view ReceivedMessage::Contiguous() {
  if (views_.empty()) return {};
  if (views_.size() == 1) return views_.front();
  if (contiguous_.empty()) {
    contiguous_.reserve(size_);
    for (absl::string_view view : views_) {
      contiguous_.append(view.data(), view.size());
    }
  }
  return contiguous_;
}

}  // namespace reverb::rpc
