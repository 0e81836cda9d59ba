// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// ChunkData and signatures, as records and as bytes.
//
// Errors and threads as in messages.h.

#ifndef REVERB_CC_WIRE_DATA_MESSAGES_H_
#define REVERB_CC_WIRE_DATA_MESSAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/data/chunk.h"
#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/tensor/signature.h"

namespace reverb::wire {

// Serializes a chunk; its bytes are those of dm-reverb's writers.
Ref<const Chunk> BuildChunk(ChunkKey key, const SequenceRange& range,
                            bool delta_encoded,
                            absl::Span<const EncodedTensor> tensors);

// Takes a received ChunkData message over: checks its header (tensors with a
// known dtype, rank >= 1, sane dims) without touching the payload.
absl::StatusOr<Ref<const Chunk>> ParseChunk(std::unique_ptr<char[]> bytes,
                                            size_t size);

// A chunk's tensors for decoding, borrowed from `bytes`.
absl::StatusOr<ChunkView> ParseChunkView(absl::string_view bytes);

// The flat specs of a serialized StructuredValue.
absl::StatusOr<Signature> ParseSignature(absl::string_view structured_value);

// One line of text for people: "{'a': float32 (3,)}".
std::string SignatureText(absl::string_view structured_value);

}  // namespace reverb::wire

#endif  // REVERB_CC_WIRE_DATA_MESSAGES_H_
