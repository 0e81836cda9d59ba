// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/rope.h"

#include <utility>

namespace reverb {

std::string& Rope::Text() {
  if (pieces_.empty() || pieces_.back().chunk) {
    EndPiece();
    pieces_.emplace_back();
  }
  return pieces_.back().text;
}

void Rope::AppendChunk(Ref<const Chunk> chunk) {
  EndPiece();
  pieces_.emplace_back().chunk = std::move(chunk);
}

size_t Rope::size() const {
  return pieces_.empty() ? 0 : ended_bytes_ + pieces_.back().bytes().size();
}

std::vector<Rope::Piece> Rope::TakePieces() {
  ended_bytes_ = 0;
  return std::exchange(pieces_, {});
}

std::string Rope::Flatten() const {
  std::string result;
  result.reserve(size());
  for (const Piece& piece : pieces_) {
    result.append(piece.bytes().data(), piece.bytes().size());
  }
  return result;
}

void Rope::EndPiece() {
  ended_bytes_ =
      pieces_.empty() ? 0 : ended_bytes_ + pieces_.back().bytes().size();
}

}  // namespace reverb
