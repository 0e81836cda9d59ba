// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/table/contents.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/error_info.h"
#include "reverb/cc/support/status_macros.h"

namespace reverb {
namespace {

constexpr int kMaxBatch = 64;

uint32_t ChunkBytes(const Trajectory& trajectory) {
  size_t bytes = 0;
  // The search of ForEachChunk is quadratic.
  constexpr size_t kFew = 64;
  if (trajectory.slices().size() <= kFew) {
    trajectory.ForEachChunk([&bytes](const Ref<const Chunk>& chunk) {
      bytes += chunk->bytes().size();
    });
  } else {
    absl::flat_hash_set<const Chunk*> seen;
    for (const ChunkSlice& slice : trajectory.slices()) {
      if (seen.insert(slice.chunk.get()).second) {
        bytes += slice.chunk->bytes().size();
      }
    }
  }
  return static_cast<uint32_t>(
      std::min<size_t>(bytes, std::numeric_limits<uint32_t>::max()));
}

// `status`, which names no table, as an error of this one.
absl::Status InTable(const TableOptions& options, const absl::Status& status) {
  if (status.ok()) return status;
  return WithErrorInfo(
      absl::Status(status.code(), absl::StrCat("table '", options.name,
                                               "': ", status.message())),
      {.table = options.name, .column = "", .limit = "", .actual = ""});
}

}  // namespace

NewItem::NewItem(InsertRequest request)
    : item(std::move(request.item)),
      priority(request.priority),
      chunk_bytes(ChunkBytes(item->trajectory())),
      tag(request.tag) {}

absl::StatusOr<std::unique_ptr<TableContents>> TableContents::Create(
    const TableOptions& options) {
  if (options.name.empty()) {
    return absl::InvalidArgumentError("a table's name must not be empty");
  }
  if (options.max_size < 1 ||
      options.max_size > std::numeric_limits<int32_t>::max()) {
    return InTable(options, absl::InvalidArgumentError(absl::StrCat(
                                "max_size must be from 1 to 2^31 - 1, not ",
                                options.max_size)));
  }
  for (const auto& extension : options.extensions) {
    if (extension == nullptr) {
      return InTable(options,
                     absl::InvalidArgumentError("an extension is null"));
    }
  }
  auto sampler = CreateSelector(options.sampler);
  REVERB_RETURN_IF_ERROR(InTable(options, sampler.status()));
  auto remover = CreateSelector(options.remover);
  REVERB_RETURN_IF_ERROR(InTable(options, remover.status()));
  auto limiter = RateLimiter::Create(options.rate_limiter);
  REVERB_RETURN_IF_ERROR(InTable(options, limiter.status()));
  return std::unique_ptr<TableContents>(new TableContents(
      options, *std::move(sampler), *std::move(remover), *std::move(limiter)));
}

TableContents::TableContents(const TableOptions& options,
                             std::unique_ptr<Selector> sampler,
                             std::unique_ptr<Selector> remover,
                             RateLimiter limiter)
    : options_(options),
      sampler_(std::move(sampler)),
      remover_(std::move(remover)),
      limiter_(limiter) {}

absl::Status TableContents::CanHold(absl::Span<const double> priorities) const {
  REVERB_RETURN_IF_ERROR(InTable(options_, sampler_->CanHold(priorities)));
  return InTable(options_, remover_->CanHold(priorities));
}

absl::Status TableContents::Insert(NewItem item, int64_t wall_nanos,
                                   Discarded& discarded) {
  if (absl::Status status = CanHold({&item.priority, 1}); !status.ok()) {
    discarded.items.push_back(std::move(item.item));
    return status;
  }
  if (const auto slot = store_.Find(item.item->key()); slot.has_value()) {
    UpdateSlot(*slot, item.priority);
    discarded.items.push_back(std::move(item.item));
    return absl::OkStatus();
  }

  last_inserted_at_ = std::max(wall_nanos, last_inserted_at_ + 1);
  item.item->set_inserted_at_nanos(last_inserted_at_);
  max_chunk_bytes_ = std::max(max_chunk_bytes_, item.chunk_bytes);
  const Slot slot = store_.Add({.item = std::move(item.item),
                                .priority = item.priority,
                                .times_sampled = 0,
                                .chunk_bytes = item.chunk_bytes});
  sampler_->Insert(slot, item.priority);
  remover_->Insert(slot, item.priority);
  const Item& stored = *store_[slot].item;
  episodes_.Add(stored.trajectory());
  for (const auto& extension : options_.extensions) {
    extension->OnInsert(
        {.item = stored, .priority = item.priority, .times_sampled = 0});
  }

  // Only now, so that the new item can be the one to go.
  if (size() > options_.max_size) {
    DeleteSlot(remover_->Sample().slot, discarded);
  }
  limiter_.DidInsert();
  return absl::OkStatus();
}

int TableContents::Sample(int count, size_t max_bytes, bool rate_limited,
                          std::vector<struct Sample>& samples, size_t& bytes,
                          Discarded& discarded) {
  if (options_.max_times_sampled < 1) {
    return SampleWithoutRemoving(count, max_bytes, rate_limited, samples,
                                 bytes);
  }
  int taken = 0;
  while (taken < count && CanSample()) {
    limiter_.DidSample();
    const Selector::Draw draw = sampler_->Sample();
    TakeSample(draw, rate_limited, samples, bytes);
    ++taken;
    // At or above: a restored count may already exceed a lowered limit.
    if (store_[draw.slot].times_sampled >= options_.max_times_sampled) {
      DeleteSlot(draw.slot, discarded);
    }
    if (bytes >= max_bytes) break;
  }
  return taken;
}

int TableContents::SampleWithoutRemoving(int count, size_t max_bytes,
                                         bool rate_limited,
                                         std::vector<struct Sample>& samples,
                                         size_t& bytes) {
  if (store_.size() == 0) return 0;
  std::array<Selector::Draw, kMaxBatch> draws;
  int taken = 0;
  while (taken < count) {
    int64_t batch = std::min(count - taken, kMaxBatch);
    // No more draws than are sure to be used: those of a sequence that ends
    // early, at max_bytes, would be missing from the next.
    if (max_chunk_bytes_ > 0) {
      const size_t left = max_bytes > bytes ? max_bytes - bytes : 1;
      const size_t fit = 1 + (left - 1) / max_chunk_bytes_;
      if (fit < static_cast<size_t>(batch)) batch = static_cast<int64_t>(fit);
    }
    batch = limiter_.SamplesAllowed(batch);
    if (batch == 0) break;
    limiter_.DidSample(batch);
    const auto drawn = absl::MakeSpan(draws).first(batch);
    sampler_->SampleBatch(drawn);
    // Slots are spread over all memory: have the misses overlap.
    for (const Selector::Draw& draw : drawn) {
      __builtin_prefetch(&store_[draw.slot], 1);
    }
    for (const Selector::Draw& draw : drawn) {
      __builtin_prefetch(store_[draw.slot].item.get(), 1);
    }
    for (const Selector::Draw& draw : drawn) {
      TakeSample(draw, rate_limited, samples, bytes);
    }
    taken += static_cast<int>(batch);
    if (bytes >= max_bytes) break;
  }
  return taken;
}

void TableContents::TakeSample(const Selector::Draw& draw, bool rate_limited,
                               std::vector<struct Sample>& samples,
                               size_t& bytes) {
  StoredItem& stored = store_[draw.slot];
  if (stored.times_sampled == 0) ++num_unique_samples_;
  // Saturates: without a limit an item may live for ever.
  if (stored.times_sampled < std::numeric_limits<int32_t>::max()) {
    ++stored.times_sampled;
  }
  bytes += stored.chunk_bytes;
  samples.push_back({.item = stored.item,
                     .probability = draw.probability,
                     .priority = stored.priority,
                     .table_size = size(),
                     .times_sampled = stored.times_sampled,
                     .rate_limited = rate_limited});
  for (const auto& extension : options_.extensions) {
    extension->OnSample({.item = *stored.item,
                         .priority = stored.priority,
                         .times_sampled = stored.times_sampled});
  }
}

void TableContents::Update(ItemKey key, double priority) {
  if (const auto slot = store_.Find(key)) UpdateSlot(*slot, priority);
}

void TableContents::Delete(ItemKey key, Discarded& discarded) {
  if (const auto slot = store_.Find(key)) DeleteSlot(*slot, discarded);
}

void TableContents::UpdateSlot(Slot slot, double priority) {
  StoredItem& stored = store_[slot];
  stored.priority = priority;
  sampler_->Update(slot, priority);
  remover_->Update(slot, priority);
  for (const auto& extension : options_.extensions) {
    extension->OnUpdate({.item = *stored.item,
                         .priority = priority,
                         .times_sampled = stored.times_sampled});
  }
}

void TableContents::DeleteSlot(Slot slot, Discarded& discarded) {
  sampler_->Delete(slot);
  remover_->Delete(slot);
  StoredItem stored = store_.Remove(slot);
  episodes_.Remove(stored.item->trajectory());
  limiter_.DidDelete();
  for (const auto& extension : options_.extensions) {
    extension->OnDelete({.item = *stored.item,
                         .priority = stored.priority,
                         .times_sampled = stored.times_sampled});
  }
  discarded.items.push_back(std::move(stored.item));
}

void TableContents::Reset(Discarded& discarded) {
  discarded.stores.push_back(std::exchange(store_, ItemStore()));
  discarded.episodes.push_back(std::exchange(episodes_, EpisodeCounts()));
  sampler_->Clear();
  remover_->Clear();
  limiter_.Reset();
  num_unique_samples_ = 0;
  max_chunk_bytes_ = 0;
  for (const auto& extension : options_.extensions) extension->OnReset();
}

}  // namespace reverb
