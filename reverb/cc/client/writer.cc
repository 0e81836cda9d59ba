// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/client/writer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/client/background.h"
#include "reverb/cc/client/chunker.h"
#include "reverb/cc/client/insert_stream.h"
#include "reverb/cc/client/make_writer.h"
#include "reverb/cc/client/signature_check.h"
#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/fork_guard.h"
#include "reverb/cc/support/log.h"
#include "reverb/cc/support/rng.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

class LegacyWriter final : public Writer {
 public:
  using SharedString = std::shared_ptr<const std::string>;

  LegacyWriter(const Options& options, std::shared_ptr<Endpoint> endpoint,
               std::shared_ptr<SignatureCache> signatures)
      : options_(options),
        endpoint_(std::move(endpoint)),
        signatures_(std::move(signatures)),
        stream_(InsertStream::Create(endpoint_)),
        chunker_({.max_rows = options.chunk_length,
                  .delta_encoded = options.delta_encoded}),
        episode_id_(RandomKey()) {}
  ~LegacyWriter() override;

  absl::Status Append(absl::Span<const TensorView> columns,
                      const WaitOptions& wait) override;
  absl::Status AppendSequence(absl::Span<const TensorView> columns,
                              const WaitOptions& wait) override;
  absl::Status CreateItem(absl::string_view table, int num_timesteps,
                          double priority, const WaitOptions& wait) override;
  void SetStructure(SharedString field) override {
    structure_ = std::move(field);
  }
  absl::Status Flush(const WaitOptions& wait) override;
  absl::Status Close(bool retry_on_unavailable,
                     const WaitOptions& wait) override;
  std::string ToString() const override;
  bool closed() const override { return closed_; }

 private:
  // A sealed chunk that items may still refer to.
  struct Past {
    Ref<const Chunk> chunk;
    int64_t rows = 0;
    std::vector<CellSpec> step;
  };
  // An item whose last step is row `end - 1` of the open chunk.
  struct Recorded {
    std::string table;
    double priority = 0;
    int64_t num_timesteps = 0;
    int64_t end = 0;
    SharedString structure;
  };

  absl::Status CheckOpen(absl::string_view method) const;
  // Every step that an item over the last `num_timesteps` would have.
  absl::Status CheckSteps(absl::string_view table, int64_t num_timesteps,
                          const WaitOptions& wait) const;
  std::vector<CellSpec> OpenStep() const;
  int64_t PastSteps() const;
  // An item over `num_timesteps` steps of which the last is row `end - 1` of
  // the newest sealed chunk.
  OutgoingItem MakeItem(absl::string_view table, double priority,
                        int64_t num_timesteps, int64_t end,
                        SharedString structure) const;
  // Ends the open chunk, if it has rows; items that waited for it are ready.
  void Seal();
  // Hands ready items to the stream as the window allows.
  absl::Status Send(const WaitOptions& wait);

  const Options options_;
  const std::shared_ptr<Endpoint> endpoint_;
  const std::shared_ptr<SignatureCache> signatures_;
  const std::shared_ptr<InsertStream> stream_;
  Chunker chunker_;
  std::deque<Past> past_;
  std::vector<Recorded> recorded_;
  std::deque<OutgoingItem> ready_;  // not yet in the stream
  SharedString structure_;
  const uint64_t episode_id_;
  int32_t index_within_episode_ = 0;
  bool closed_ = false;
};

LegacyWriter::~LegacyWriter() {
  if (closed_ || InForkedChildOfGrpcUser()) return;
  if (!recorded_.empty()) Seal();
  std::vector<OutgoingItem> rest(std::make_move_iterator(ready_.begin()),
                                 std::make_move_iterator(ready_.end()));
  if (!rest.empty()) {
    const size_t count = rest.size();
    if (absl::Status status =
            stream_->Append(std::move(rest), kNoDeadline, false);
        !status.ok()) {
      LogWarning(absl::StrCat(count, " items of a writer that was dropped ",
                              "could not be inserted: ", status.message()));
    }
  }
  if (stream_->num_pending() > 0 && stream_->status().ok()) {
    FinishInBackground(*endpoint_, stream_);
  } else {
    stream_->Close();
  }
}

absl::Status LegacyWriter::CheckOpen(absl::string_view method) const {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  if (closed_) {
    return absl::FailedPreconditionError(absl::StrCat(
        "Calling method ", method, " after Close has been called!"));
  }
  return stream_->status();
}

absl::Status LegacyWriter::Append(absl::Span<const TensorView> columns,
                                  const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckOpen("Append"));
  REVERB_RETURN_IF_ERROR(
      chunker_.Append(columns, episode_id_, index_within_episode_));
  ++index_within_episode_;
  if (!chunker_.full()) return absl::OkStatus();
  Seal();
  return Send(wait);
}

absl::Status LegacyWriter::AppendSequence(absl::Span<const TensorView> columns,
                                          const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckOpen("AppendSequence"));
  if (columns.empty()) {
    return absl::InvalidArgumentError("the sequence has no columns");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].dims.empty()) {
      return WithErrorInfo(
          absl::InvalidArgumentError(absl::StrCat(
              "column ", i, " of a sequence is a scalar: it needs a leading ",
              "dimension of time")),
          {.column = absl::StrCat(i)});
    }
    if (columns[i].dims[0] != columns[0].dims[0]) {
      return WithErrorInfo(
          absl::InvalidArgumentError(absl::StrCat(
              "column ", i, " of a sequence has ", columns[i].dims[0],
              " steps, column 0 has ", columns[0].dims[0])),
          {.column = absl::StrCat(i),
           .limit = absl::StrCat(columns[0].dims[0]),
           .actual = absl::StrCat(columns[i].dims[0])});
    }
  }
  const int64_t num_steps = columns[0].dims[0];
  std::vector<TensorView> step(columns.size());
  for (int64_t t = 0; t < num_steps; ++t) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const TensorView& column = columns[i];
      step[i].dtype = column.dtype;
      step[i].dims.assign(column.dims.begin() + 1, column.dims.end());
      const size_t bytes = column.data.size() / num_steps;
      step[i].data = column.data.substr(t * bytes, bytes);
      const size_t strings = column.strings.size() / num_steps;
      step[i].strings = column.strings.subspan(t * strings, strings);
    }
    REVERB_RETURN_IF_ERROR(Append(step, wait));
  }
  return absl::OkStatus();
}

std::vector<CellSpec> LegacyWriter::OpenStep() const {
  std::vector<CellSpec> step;
  for (const RowBuffer& column : chunker_.columns()) {
    step.push_back({.dtype = column.dtype(), .dims = column.cell_dims()});
  }
  return step;
}

int64_t LegacyWriter::PastSteps() const {
  int64_t steps = 0;
  for (const Past& past : past_) steps += past.rows;
  return steps;
}

absl::Status LegacyWriter::CheckSteps(absl::string_view table,
                                      int64_t num_timesteps,
                                      const WaitOptions& wait) const {
  REVERB_ASSIGN_OR_RETURN(std::shared_ptr<const Signature> signature,
                          signatures_->Find(table, wait));
  // Newest first. Chunks may differ from each other; an item's may not.
  const std::vector<CellSpec> newest =
      chunker_.num_rows() > 0 ? OpenStep() : past_.back().step;
  if (signature != nullptr) {
    REVERB_RETURN_IF_ERROR(CheckStep(table, *signature, newest, num_timesteps));
  }
  int64_t left = num_timesteps - chunker_.num_rows();
  for (auto past = past_.rbegin(); left > 0 && past != past_.rend(); ++past) {
    if (past->step != newest) {
      return WithErrorInfo(
          absl::InvalidArgumentError(absl::StrCat(
              "the steps of an item for table '", table,
              "' must agree in their number of columns, dtypes and shapes")),
          {.table = std::string(table)});
    }
    left -= past->rows;
  }
  return absl::OkStatus();
}

absl::Status LegacyWriter::CreateItem(absl::string_view table,
                                      int num_timesteps, double priority,
                                      const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckOpen("CreateItem"));
  REVERB_RETURN_IF_ERROR(CheckPriorityIsNumber(table, priority));
  const int64_t available = PastSteps() + chunker_.num_rows();
  if (num_timesteps < 1 || num_timesteps > options_.max_timesteps ||
      num_timesteps > available) {
    const int64_t limit = std::min<int64_t>(available, options_.max_timesteps);
    return WithErrorInfo(
        absl::InvalidArgumentError(absl::StrCat(
            "an item for table '", table, "' can't have ", num_timesteps,
            " timesteps: there are ", available, " buffered, and at most ",
            options_.max_timesteps, " (max_sequence_length) are allowed")),
        {.table = std::string(table),
         .limit = absl::StrCat(limit),
         .actual = absl::StrCat(num_timesteps)});
  }
  REVERB_RETURN_IF_ERROR(CheckSteps(table, num_timesteps, wait));
  if (chunker_.num_rows() > 0) {
    recorded_.push_back({.table = std::string(table),
                         .priority = priority,
                         .num_timesteps = num_timesteps,
                         .end = chunker_.num_rows(),
                         .structure = structure_});
    return absl::OkStatus();
  }
  ready_.push_back(
      MakeItem(table, priority, num_timesteps, past_.back().rows, structure_));
  return Send(wait);
}

OutgoingItem LegacyWriter::MakeItem(absl::string_view table, double priority,
                                    int64_t num_timesteps, int64_t end,
                                    SharedString structure) const {
  struct Run {
    const Past* past;
    int64_t offset;
    int64_t length;
  };
  std::vector<Run> runs;  // newest first
  int64_t left = num_timesteps;
  for (auto past = past_.rbegin(); left > 0; ++past) {
    const int64_t rows = past == past_.rbegin() ? end : past->rows;
    const int64_t length = std::min(left, rows);
    runs.push_back({&*past, rows - length, length});
    left -= length;
  }
  Trajectory trajectory;
  const size_t num_columns = past_.back().step.size();
  for (size_t column = 0; column < num_columns; ++column) {
    for (size_t i = runs.size(); i-- > 0;) {
      trajectory.Add({.chunk = runs[i].past->chunk,
                      .offset = static_cast<int32_t>(runs[i].offset),
                      .length = static_cast<int32_t>(runs[i].length),
                      .index = static_cast<int32_t>(column),
                      .ends_column = i == 0});
    }
  }
  return {.table = std::string(table),
          .priority = priority,
          .item = MakeRef<Item>(RandomKey(), std::move(trajectory),
                                std::move(structure))};
}

void LegacyWriter::Seal() {
  if (chunker_.num_rows() == 0) return;
  const int64_t rows = chunker_.num_rows();
  std::vector<CellSpec> step = OpenStep();
  past_.push_back({chunker_.Seal(), rows, std::move(step)});
  for (const Recorded& item : recorded_) {
    ready_.push_back(MakeItem(item.table, item.priority, item.num_timesteps,
                              item.end, item.structure));
  }
  recorded_.clear();
  int64_t steps = PastSteps();
  std::vector<ChunkKey> removed;
  while (steps - past_.front().rows >= options_.max_timesteps) {
    steps -= past_.front().rows;
    removed.push_back(past_.front().chunk->key());
    past_.pop_front();
  }
  stream_->UpdateKept(absl::MakeConstSpan(&past_.back().chunk, 1), removed);
}

absl::Status LegacyWriter::Send(const WaitOptions& wait) {
  while (!ready_.empty()) {
    REVERB_RETURN_IF_ERROR(
        stream_->AwaitPending(options_.max_in_flight_items - 1, wait));
    const int64_t room = options_.max_in_flight_items - stream_->num_pending();
    std::vector<OutgoingItem> items;
    while (!ready_.empty() && static_cast<int64_t>(items.size()) < room) {
      items.push_back(std::move(ready_.front()));
      ready_.pop_front();
    }
    REVERB_RETURN_IF_ERROR(
        stream_->Append(std::move(items), kNoDeadline, false));
  }
  return absl::OkStatus();
}

absl::Status LegacyWriter::Flush(const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckOpen("Flush"));
  if (!recorded_.empty()) Seal();
  REVERB_RETURN_IF_ERROR(Send(wait));
  return stream_->AwaitPending(0, wait);
}

absl::Status LegacyWriter::Close(bool retry_on_unavailable,
                                 const WaitOptions& wait) {
  REVERB_RETURN_IF_ERROR(CheckNotForked());
  if (closed_) {
    return absl::InvalidArgumentError("the writer has already been closed");
  }
  absl::Status status;
  if (retry_on_unavailable) {
    status = Flush(wait);
    // Whoever was interrupted, or whose server is away, may try again.
    if (IsInterrupted(status) || absl::IsUnavailable(status) ||
        absl::IsDeadlineExceeded(status)) {
      return status;
    }
  } else {
    WaitOptions slice = wait;
    do {
      slice.deadline =
          std::min(wait.deadline, Clock::Real().Now() + kInterruptPeriod);
      status = Flush(slice);
      if (IsInterrupted(status)) return status;
    } while (absl::IsDeadlineExceeded(status) && stream_->last_loss().ok() &&
             Clock::Real().Now() < wait.deadline);
    if (absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status)) {
      LogWarning(absl::StrCat(
          stream_->num_pending() + static_cast<int64_t>(ready_.size()),
          " items of a writer were given up, since the server is "
          "unavailable"));
      status = absl::OkStatus();
    }
  }
  closed_ = true;
  stream_->Close();
  return status;
}

std::string LegacyWriter::ToString() const {
  return absl::StrCat(
      "Writer(chunk_length=", options_.chunk_length,
      ", max_timesteps=", options_.max_timesteps,
      ", delta_encoded=", options_.delta_encoded ? 1 : 0,
      ", max_in_flight_items=", options_.max_in_flight_items,
      ", episode_id=", episode_id_,
      // 0.14 counts a step once its chunk is sealed.
      ", index_within_episode=", index_within_episode_ - chunker_.num_rows(),
      ", closed=", closed_ ? 1 : 0, ")");
}

absl::Status OutOfRange(absl::string_view name, int64_t value,
                        absl::string_view expected) {
  return WithErrorInfo(
      absl::InvalidArgumentError(
          absl::StrCat(name, " must be ", expected, ", got ", value)),
      {.limit = std::string(expected), .actual = absl::StrCat(value)});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> MakeWriter(
    const Writer::Options& options, std::shared_ptr<Endpoint> endpoint,
    std::shared_ptr<SignatureCache> signatures) {
  if (options.max_timesteps < 1) {
    return OutOfRange("max_sequence_length", options.max_timesteps,
                      "at least 1");
  }
  if (options.chunk_length < 1 ||
      options.chunk_length > options.max_timesteps) {
    return OutOfRange("chunk_length", options.chunk_length,
                      absl::StrCat("between 1 and max_sequence_length (",
                                   options.max_timesteps, ")"));
  }
  if (options.max_in_flight_items < 1) {
    return OutOfRange("max_in_flight_items", options.max_in_flight_items,
                      "at least 1");
  }
  return std::make_unique<LegacyWriter>(options, std::move(endpoint),
                                        std::move(signatures));
}

}  // namespace reverb
