// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Messages for tests: made by hand, and the recorded ones of dm-reverb.

#ifndef REVERB_TESTS_CC_WIRE_TEST_MESSAGES_H_
#define REVERB_TESTS_CC_WIRE_TEST_MESSAGES_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <protozero/pbf_writer.hpp>

#include "reverb/cc/codec/snappy_block.h"
#include "reverb/cc/data/encoded_tensor.h"
#include "reverb/cc/wire/data_messages.h"

namespace reverb::wire {

using protozero::pbf_writer;

// What `fill(pbf_writer&)` writes.
template <typename Fn>
std::string Message(Fn&& fill) {
  std::string bytes;
  pbf_writer out(bytes);
  fill(out);
  return bytes;
}

inline std::unique_ptr<char[]> CopyBytes(absl::string_view bytes) {
  auto copy = std::make_unique<char[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return copy;
}

inline absl::StatusOr<Ref<const Chunk>> ParseChunkBytes(
    absl::string_view bytes) {
  return ParseChunk(CopyBytes(bytes), bytes.size());
}

// An int32 tensor [rows] that is stored, not compressed.
inline EncodedTensor Int32Rows(int64_t rows, char fill = 0) {
  EncodedTensor tensor;
  tensor.dtype = DType::kInt32;
  tensor.dims = {rows};
  tensor.raw_bytes = rows * 4;
  SnappyStore(std::string(static_cast<size_t>(rows) * 4, fill), tensor.content);
  return tensor;
}

inline Ref<const Chunk> TestChunk(ChunkKey key, int64_t rows = 3) {
  const EncodedTensor tensor = Int32Rows(rows);
  return BuildChunk(key, SequenceRange{key + 1, 0, 2, false}, false,
                    {&tensor, 1});
}

// Cuts `bytes` into slices of `size` bytes, with empty ones in between.
inline std::vector<absl::string_view> Cut(absl::string_view bytes,
                                          size_t size) {
  std::vector<absl::string_view> slices;
  for (size_t i = 0; i < bytes.size(); i += size) {
    slices.push_back(bytes.substr(i, size));
    slices.push_back({});
  }
  return slices;
}

struct RecordedMessage {
  std::string name;  // "errors/005_InsertStream_call02_req.bin"
  std::string bytes;
  bool Is(absl::string_view method, absl::string_view direction) const {
    return name.find("_" + std::string(method) + "_") != std::string::npos &&
           name.ends_with("_" + std::string(direction) + ".bin");
  }
};

// Sorted by name; tests run in the root of the tree.
inline std::vector<RecordedMessage> RecordedMessages() {
  namespace fs = std::filesystem;
  const fs::path root = "tests/vectors/grpc";
  std::vector<RecordedMessage> result;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".bin") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    result.push_back({fs::relative(entry.path(), root).string(),
                      std::string(std::istreambuf_iterator<char>(in), {})});
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return result;
}

}  // namespace reverb::wire

#endif  // REVERB_TESTS_CC_WIRE_TEST_MESSAGES_H_
