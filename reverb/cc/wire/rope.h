// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Bytes to be sent, in pieces: our own text, and chunks by reference.
//
// Threads: one thread.

#ifndef REVERB_CC_WIRE_ROPE_H_
#define REVERB_CC_WIRE_ROPE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/support/ref.h"

namespace reverb {

class Rope {
 public:
  // A run of `text`, or a whole chunk's bytes.
  struct Piece {
    std::string text;
    Ref<const Chunk> chunk;  // set: the piece is the chunk's bytes
    absl::string_view bytes() const {
      return chunk ? chunk->bytes() : absl::string_view(text);
    }
  };

  // The text piece at the end, begun if there is none: append to it freely.
  std::string& Text();
  void AppendChunk(Ref<const Chunk> chunk);

  size_t size() const;  // bytes; O(1)
  bool empty() const { return pieces_.empty(); }
  const std::vector<Piece>& pieces() const { return pieces_; }
  // Leaves the rope empty.
  std::vector<Piece> TakePieces();
  // All in one string, for tests and unary calls.
  std::string Flatten() const;

 private:
  // Counts the last piece, which takes no more bytes.
  void EndPiece();

  std::vector<Piece> pieces_;
  size_t ended_bytes_ = 0;  // of all pieces but the last
};

}  // namespace reverb

#endif  // REVERB_CC_WIRE_ROPE_H_
