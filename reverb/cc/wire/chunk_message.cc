// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// ChunkData: the chunk's header and where its tensors' contents lie.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/codec/snappy_block.h"
#include "reverb/cc/support/status_macros.h"
#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/field_reader.h"
#include "reverb/cc/wire/field_writer.h"

namespace reverb::wire {
namespace {

// Bounds on what a few bytes can make us remember: TensorFlow's largest rank,
// and a hundred times the columns an item may have.
constexpr size_t kMaxRank = 254;
constexpr size_t kMaxTensors = 1'000'000;

// A TensorProto, with what must be known to judge it.
struct ParsedTensor {
  EncodedTensorView view;
  int64_t dtype_number = 0;
  bool unknown_rank = false;
};

absl::Status ParseDim(absl::string_view bytes, Dims& dims) {
  if (dims.size() == kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor has more than ", kMaxRank, " dimensions"));
  }
  int64_t size = 0;
  FieldReader in(bytes);
  while (in.Next()) {
    if (in.tag() == Tag(1, kVarint)) size = in.int64();
  }
  dims.push_back(size);
  return in.status("TensorShapeProto.Dim");
}

absl::Status MergeShape(absl::string_view bytes, ParsedTensor& tensor) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(2, kBytes):
        REVERB_RETURN_IF_ERROR(ParseDim(in.bytes(), tensor.view.dims));
        break;
      case Tag(3, kVarint):
        tensor.unknown_rank = in.boolean();
        break;
    }
  }
  return in.status("TensorShapeProto");
}

// `keep_strings`: whether the view gets the values of string_val.
absl::Status ParseTensor(absl::string_view bytes, bool keep_strings,
                         ParsedTensor& tensor) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        tensor.dtype_number = in.int32();
        break;
      case Tag(2, kBytes):
        REVERB_RETURN_IF_ERROR(MergeShape(in.bytes(), tensor));
        break;
      case Tag(4, kBytes):
        tensor.view.content = in.bytes();
        break;
      case Tag(8, kBytes):
        if (keep_strings) tensor.view.string_values.push_back(in.bytes());
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("TensorProto"));
  tensor.view.dtype =
      DTypeFromWire(tensor.dtype_number).value_or(DType::kInvalid);
  return absl::OkStatus();
}

absl::Status MergeRange(absl::string_view bytes, SequenceRange& range) {
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        range.episode_id = in.varint();
        break;
      case Tag(2, kVarint):
        range.start = in.int32();
        break;
      case Tag(3, kVarint):
        range.end = in.int32();
        break;
      case Tag(4, kVarint):
        range.sparse = in.boolean();
        break;
    }
  }
  return in.status("SequenceRange");
}

using TensorFn = absl::FunctionRef<absl::Status(absl::string_view tensor)>;

absl::Status ForEachTensor(absl::string_view data, TensorFn fn) {
  FieldReader in(data);
  while (in.Next()) {
    if (in.tag() == Tag(1, kBytes)) REVERB_RETURN_IF_ERROR(fn(in.bytes()));
  }
  return in.status("ChunkData.Data");
}

// Reads a ChunkData. `fn` is called with the bytes of every TensorProto.
// `header.tensor_rows` is left alone.
absl::Status WalkChunk(absl::string_view bytes, Chunk::Header& header,
                       TensorFn fn) {
  bool has_data = false;
  bool has_deprecated = false;
  FieldReader in(bytes);
  while (in.Next()) {
    switch (in.tag()) {
      case Tag(1, kVarint):
        header.key = in.varint();
        break;
      case Tag(2, kBytes):
        REVERB_RETURN_IF_ERROR(MergeRange(in.bytes(), header.range));
        break;
      case Tag(3, kBytes):  // as chunks before 2021 have it
        has_deprecated = true;
        REVERB_RETURN_IF_ERROR(fn(in.bytes()));
        break;
      case Tag(4, kVarint):
        header.delta_encoded = in.boolean();
        break;
      case Tag(5, kBytes):
        has_data = true;
        REVERB_RETURN_IF_ERROR(ForEachTensor(in.bytes(), fn));
        break;
    }
  }
  REVERB_RETURN_IF_ERROR(in.status("ChunkData"));
  if (has_data && has_deprecated) {
    return absl::InvalidArgumentError(
        "a chunk has tensors both in `data` and in `deprecated_data`");
  }
  return absl::OkStatus();
}

absl::Status TooManyTensors() {
  return absl::ResourceExhaustedError(
      absl::StrCat("a chunk has more than ", kMaxTensors, " tensors"));
}

// What readers could be crashed or deceived by, as far as headers show it.
absl::Status CheckTensor(const ParsedTensor& tensor) {
  const EncodedTensorView& view = tensor.view;
  if (view.dtype == DType::kInvalid) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no tensor can have the dtype number ", tensor.dtype_number));
  }
  if (tensor.unknown_rank || view.dims.empty()) {
    return absl::InvalidArgumentError(
        "it needs at least one dimension, that of its rows");
  }
  const std::optional<int64_t> elements = NumElements(view.dims);
  if (!elements.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("impossible shape ", ShapeString(view.dims)));
  }
  if (view.dims[0] > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("more rows than can be referred to: ", view.dims[0]));
  }
  if (view.dtype == DType::kString) return absl::OkStatus();
  if (view.content.empty()) {
    if (*elements == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(DTypeName(view.dtype), " ",
                                                   ShapeString(view.dims),
                                                   " without tensor_content"));
  }
  const absl::StatusOr<size_t> raw_size = SnappyRawSize(view.content);
  // No overflow: the product is below 2^63, and is compared in 128 bits.
  const __int128 expected = static_cast<__int128>(*elements) *
                            static_cast<__int128>(ElementSize(view.dtype));
  if (!raw_size.ok() || static_cast<__int128>(*raw_size) != expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        DTypeName(view.dtype), " ", ShapeString(view.dims),
        " with content of another size",
        raw_size.ok() ? absl::StrCat(": ", *raw_size, " bytes") : ""));
  }
  return absl::OkStatus();
}

// ---- writing

size_t DimSize(int64_t dim) {
  return MessageSize(2, NumberSize(1, SignedVarint(dim)));
}

size_t ShapeSize(const Dims& dims) {
  size_t size = 0;
  for (int64_t dim : dims) size += DimSize(dim);
  return size;
}

size_t TensorSize(const EncodedTensor& tensor) {
  return NumberSize(1, static_cast<uint64_t>(tensor.dtype)) +
         MessageSize(2, ShapeSize(tensor.dims)) + StringSize(4, tensor.content);
}

void WriteTensor(const EncodedTensor& tensor, FieldWriter& out) {
  out.Number(1, static_cast<uint64_t>(tensor.dtype));
  out.Begin(2, ShapeSize(tensor.dims));
  for (int64_t dim : tensor.dims) {
    out.Begin(2, NumberSize(1, SignedVarint(dim)));
    out.Number(1, SignedVarint(dim));
  }
  out.String(4, tensor.content);
}

size_t RangeSize(const SequenceRange& range) {
  return NumberSize(1, range.episode_id) +
         NumberSize(2, SignedVarint(range.start)) +
         NumberSize(3, SignedVarint(range.end)) + NumberSize(4, range.sparse);
}

}  // namespace

Ref<const Chunk> BuildChunk(ChunkKey key, const SequenceRange& range,
                            bool delta_encoded,
                            absl::Span<const EncodedTensor> tensors) {
  Chunk::Header header{key, range, delta_encoded, {}};
  size_t data_size = 0;
  int64_t raw_bytes = 0;
  for (const EncodedTensor& tensor : tensors) {
    header.tensor_rows.push_back(
        tensor.dims.empty() ? 0 : static_cast<int32_t>(tensor.dims[0]));
    data_size += MessageSize(1, TensorSize(tensor));
    raw_bytes += tensor.raw_bytes;
  }
  const size_t size = NumberSize(1, key) + MessageSize(2, RangeSize(range)) +
                      NumberSize(4, delta_encoded) + MessageSize(5, data_size) +
                      NumberSize(6, tensors.size()) +
                      NumberSize(7, SignedVarint(raw_bytes));
  auto bytes = std::make_unique_for_overwrite<char[]>(size);
  FieldWriter out(bytes.get());
  out.Number(1, key);
  out.Begin(2, RangeSize(range));
  out.Number(1, range.episode_id);
  out.Number(2, SignedVarint(range.start));
  out.Number(3, SignedVarint(range.end));
  out.Number(4, range.sparse);
  out.Number(4, delta_encoded);
  out.Begin(5, data_size);
  for (const EncodedTensor& tensor : tensors) {
    out.Begin(1, TensorSize(tensor));
    WriteTensor(tensor, out);
  }
  out.Number(6, tensors.size());
  out.Number(7, SignedVarint(raw_bytes));
  return MakeRef<const Chunk>(std::move(header), std::move(bytes), size);
}

absl::StatusOr<Ref<const Chunk>> ParseChunk(std::unique_ptr<char[]> bytes,
                                            size_t size) {
  Chunk::Header header;
  auto add_tensor = [&header](absl::string_view tensor_bytes) -> absl::Status {
    if (header.tensor_rows.size() == kMaxTensors) return TooManyTensors();
    ParsedTensor tensor;
    REVERB_RETURN_IF_ERROR(
        ParseTensor(tensor_bytes, /*keep_strings=*/false, tensor));
    if (absl::Status status = CheckTensor(tensor); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", header.tensor_rows.size(), ": ", status.message()));
    }
    header.tensor_rows.push_back(static_cast<int32_t>(tensor.view.dims[0]));
    return absl::OkStatus();
  };
  absl::Status status =
      WalkChunk(absl::string_view(bytes.get(), size), header, add_tensor);
  if (status.ok() && header.tensor_rows.empty()) {
    status = absl::InvalidArgumentError("it holds no tensors");
  }
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat("chunk ", header.key, ": ",
                                                    status.message()));
  }
  return MakeRef<const Chunk>(std::move(header), std::move(bytes), size);
}

absl::StatusOr<ChunkView> ParseChunkView(absl::string_view bytes) {
  ChunkView chunk;
  Chunk::Header header;
  auto add_tensor = [&chunk](absl::string_view tensor_bytes) -> absl::Status {
    if (chunk.tensors.size() == kMaxTensors) return TooManyTensors();
    ParsedTensor tensor;
    REVERB_RETURN_IF_ERROR(
        ParseTensor(tensor_bytes, /*keep_strings=*/true, tensor));
    if (tensor.unknown_rank) tensor.view.dims.clear();
    chunk.tensors.push_back(std::move(tensor.view));
    return absl::OkStatus();
  };
  REVERB_RETURN_IF_ERROR(WalkChunk(bytes, header, add_tensor));
  chunk.key = header.key;
  chunk.range = header.range;
  chunk.delta_encoded = header.delta_encoded;
  return chunk;
}

}  // namespace reverb::wire
