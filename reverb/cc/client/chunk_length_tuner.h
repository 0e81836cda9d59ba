// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Finds how many cells of a column a chunk should have.
//
// Long chunks compress well but make an item carry cells that it doesn't refer
// to; short ones the other way round. Every round the bytes per cell are
// compared with those of the round before and the length goes on in the same
// direction, or turns back. Numbers of spec/api.md section 12.9.
//
// Threads: thread-compatible.

#ifndef REVERB_CC_CLIENT_CHUNK_LENGTH_TUNER_H_
#define REVERB_CC_CLIENT_CHUNK_LENGTH_TUNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

namespace reverb {

class ChunkLengthTuner {
 public:
  // Begins at 1 and stays within 1 .. `max_length`.
  explicit ChunkLengthTuner(int64_t max_length) : max_length_(max_length) {}

  int64_t length() const { return length_; }

  // A chunk of `num_cells` was made, of `bytes` as it is sent.
  void OnChunk(int64_t num_cells, size_t bytes);
  // An item refers to `num_cells` cells, in chunks of `bytes` together.
  void OnItem(int64_t num_cells, size_t bytes);

 private:
  struct Mean {
    int64_t count = 0;
    double cells = 0;
    double bytes = 0;

    void Add(int64_t num_cells, size_t num_bytes);
  };
  void MaybeMove();

  int64_t max_length_;
  int64_t length_ = 1;
  bool grows_ = true;
  Mean items_;
  Mean chunks_;
  std::optional<double> last_cost_;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_CHUNK_LENGTH_TUNER_H_
