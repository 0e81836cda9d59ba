// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Messages between gRPC and the rest: ropes on their way out, borrowed slices
// on their way in.

#ifndef REVERB_CC_RPC_BYTE_BUFFER_H_
#define REVERB_CC_RPC_BYTE_BUFFER_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "reverb/cc/wire/rope.h"

namespace reverb::rpc {

// A message to be sent. Chunks are referenced until the transport has let go
// of them; text is moved, or copied where it is short.
grpc::ByteBuffer ToByteBuffer(Rope message);
grpc::ByteBuffer ToByteBuffer(std::string message);

// A message that was received, as the pieces it came in.
//
// Threads: one thread.
class ReceivedMessage {
 public:
  // Takes the bytes over: `buffer` is empty afterwards.
  explicit ReceivedMessage(grpc::ByteBuffer& buffer);
  // gRPC keeps a short piece inside the slice itself, so it must stay put.
  ReceivedMessage(const ReceivedMessage&) = delete;
  ReceivedMessage& operator=(const ReceivedMessage&) = delete;

  // Borrowed until this object dies.
  absl::Span<const absl::string_view> slices() const { return views_; }
  size_t size() const { return size_; }  // bytes
  // All bytes in one piece, copied only if there are several pieces. Borrowed
  // until this object dies.
  absl::string_view Contiguous();

 private:
  std::vector<grpc::Slice> slices_;
  std::vector<absl::string_view> views_;
  size_t size_ = 0;
  std::string contiguous_;
};

}  // namespace reverb::rpc

#endif  // REVERB_CC_RPC_BYTE_BUFFER_H_
