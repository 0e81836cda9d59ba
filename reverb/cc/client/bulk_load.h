// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Data that is there already, as items of one table: one per window of rows.
//
// Rows are compressed straight from the caller's memory, into chunks that
// neighbouring windows share.
//
// Threads: one thread, but for `Close`.

#ifndef REVERB_CC_CLIENT_BULK_LOAD_H_
#define REVERB_CC_CLIENT_BULK_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/client/wait.h"
#include "reverb/cc/data/chunk.h"
#include "reverb/cc/support/clock.h"
#include "reverb/cc/tensor/signature.h"
#include "reverb/cc/tensor/tensor.h"

namespace reverb {

class BulkLoad {
 public:
  struct Options {
    std::string table = {};
    // Rows of an item, and from the first row of one to that of the next.
    int64_t length = 1;
    int64_t stride = 1;
    // When the server's wait for its rate limiter ends.
    SteadyTime deadline = kNoDeadline;
    bool try_once = false;  // an item goes in at once or not at all
    // Stored with every item (`Item::extra`).
    std::shared_ptr<const std::string> structure = nullptr;
  };

  // `columns` are `[rows, ...]` and outlive the object. `ends` says (not 0)
  // after which rows an episode is over, empty: after the last alone; no item
  // crosses that. `priorities` are one for all items, or one each.
  // `signature`: the table's, or null.
  //
  // InvalidArgument that names table and column for what can't be loaded.
  static absl::StatusOr<std::unique_ptr<BulkLoad>> Create(
      Options options, absl::Span<const TensorView> columns,
      absl::Span<const uint8_t> ends, std::vector<double> priorities,
      const Signature* signature, std::shared_ptr<InsertStream> stream);
  ~BulkLoad();

  int64_t num_items() const { return num_items_; }
  // How many the table has confirmed so far.
  int64_t CountInserted();

  // Goes on until `wait.deadline`; whether everything is done. DeadlineExceeded
  // when the table did not take all of the items before `Options::deadline`.
  // Any error is final.
  absl::StatusOr<bool> Advance(const WaitOptions& wait);

  // Gives up what is not confirmed. Any thread; wakes `Advance`.
  void Close() { stream_->Close(); }

 private:
  struct Episode {
    int64_t begin = 0;
    int64_t end = 0;  // where its last window ends
    int64_t num_windows = 0;
  };
  struct Part {
    int64_t begin = 0;
    int64_t end = 0;
    Ref<const Chunk> chunk;
  };

  BulkLoad(Options options, absl::Span<const TensorView> columns,
           std::vector<double> priorities,
           std::shared_ptr<InsertStream> stream);

  absl::Status CheckRows(const Signature* signature) const;
  void FindEpisodes(absl::Span<const uint8_t> ends);
  void ChooseChunkRows();

  // Queues the next items: as many as make a message or two.
  absl::Status AppendSome();
  absl::StatusOr<OutgoingItem> NextItem();
  // Makes chunks of the rows up to `end`; drops those before `begin`.
  absl::Status Cover(int64_t begin, int64_t end);
  Ref<const Chunk> MakeChunk(int64_t begin, int64_t end) const;
  size_t RawBytes(int64_t begin, int64_t end) const;
  // The error of a table that did not take all of the items in time.
  absl::Status Fail(const WaitOptions& wait);

  const Options options_;
  const absl::Span<const TensorView> columns_;
  const std::vector<double> priorities_;
  const std::shared_ptr<InsertStream> stream_;
  std::vector<Episode> episodes_;
  int64_t num_items_ = 0;
  int64_t chunk_rows_ = 1;
  bool shares_chunks_ = false;

  // The next window: number `window_` of episode `episode_`.
  size_t episode_ = 0;
  int64_t window_ = 0;
  uint64_t episode_id_ = 0;
  std::deque<Part> parts_;  // those that later windows may need
  std::vector<Ref<const Chunk>> new_chunks_;
  std::vector<ChunkKey> old_chunks_;
  size_t new_bytes_ = 0;  // of chunks since the last item

  int64_t num_appended_ = 0;
  int64_t num_refused_ = 0;
  // With `try_once`: how long to wait for the next answer.
  int64_t last_inserted_ = 0;
  SteadyTime give_up_at_;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_BULK_LOAD_H_
