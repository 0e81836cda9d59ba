// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// From what a server hands out to the arrays of a sample.
//
// Errors: a sample that can't be decoded is an error of its own; the next one
// is not touched by it.

#ifndef REVERB_CC_CLIENT_SAMPLE_DECODER_H_
#define REVERB_CC_CLIENT_SAMPLE_DECODER_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "reverb/cc/client/sampler.h"
#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/data/item.h"
#include "reverb/cc/wire/messages.h"

namespace reverb {

// Decodes a sample of this process from the chunks it refers to.
absl::StatusOr<SampleData> DecodeLocal(const Sample& sample);

// Puts samples together from the messages of a stream.
//
// Threads: one thread.
class SampleAssembler {
 public:
  // Where a message's bytes live.
  class Message {
   public:
    virtual ~Message() = default;
    virtual absl::string_view bytes() = 0;  // borrowed from the message
  };

  // Takes the next message. An error means that the stream is of no use.
  absl::Status Add(std::unique_ptr<Message> message);

  // The next complete sample, if there is one.
  std::optional<absl::StatusOr<SampleData>> Next();

 private:
  struct Received {
    std::unique_ptr<Message> message;
    size_t entries_left = 0;  // of its entries, in `entries_`
  };

  absl::StatusOr<SampleData> Finish();

  // What the open sample and the entries not yet read borrow from: messages
  // may be added before those before them are used up.
  std::deque<Received> messages_;
  std::deque<wire::SampleEntry> entries_;
  // The open sample.
  std::optional<wire::SampleEntry::Info> info_;
  std::vector<absl::string_view> chunks_;
};

}  // namespace reverb

#endif  // REVERB_CC_CLIENT_SAMPLE_DECODER_H_
