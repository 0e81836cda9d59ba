// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/codec/delta.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"

#include "reverb/cc/tensor/dtype.h"

namespace reverb {
namespace {

// Both directions see the rows as one flat array in which each element meets
// the one `row_bytes` before it, 16 bytes at a time where a row is that long.
// Vectors are spelled out because -O2 doesn't form them from such loops.
constexpr size_t kVectorBytes = 16;

template <typename T>
struct Vector {
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};

template <typename V>
V Load(const char* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}

// *at = *at - *(at - row_bytes); `Add` as the sum.
template <typename V>
void Subtract(char* at, size_t row_bytes) {
  const V value = static_cast<V>(Load<V>(at) - Load<V>(at - row_bytes));
  std::memcpy(at, &value, sizeof(V));
}
template <typename V>
void Add(char* at, size_t row_bytes) {
  const V value = static_cast<V>(Load<V>(at) + Load<V>(at - row_bytes));
  std::memcpy(at, &value, sizeof(V));
}

// From the end, so that the element before is still the original one.
template <typename T>
void Encode(size_t row_bytes, absl::Span<char> data) {
  using V = typename Vector<T>::Type;
  char* at = data.data() + data.size();
  char* const first = data.data() + row_bytes;
  if (row_bytes >= kVectorBytes) {
    while (static_cast<size_t>(at - first) >= kVectorBytes) {
      at -= kVectorBytes;
      Subtract<V>(at, row_bytes);
    }
  }
  while (at > first) {
    at -= sizeof(T);
    Subtract<T>(at, row_bytes);
  }
}

template <typename T>
void Decode(size_t row_bytes, absl::Span<char> data) {
  using V = typename Vector<T>::Type;
  char* at = data.data() + row_bytes;
  char* const end = data.data() + data.size();
  if (row_bytes >= kVectorBytes) {
    for (; static_cast<size_t>(end - at) >= kVectorBytes; at += kVectorBytes) {
      Add<V>(at, row_bytes);
    }
  }
  for (; at < end; at += sizeof(T)) Add<T>(at, row_bytes);
}

size_t RowBytes(int64_t rows, absl::Span<const char> data) {
  return data.size() / static_cast<size_t>(rows);
}

}  // namespace

bool DeltaApplies(DType dtype, int rank) {
  return rank >= 2 && IsDeltaType(dtype);
}

void DeltaEncode(DType dtype, int64_t rows, absl::Span<char> data) {
  if (rows <= 1 || data.empty()) return;
  const size_t row_bytes = RowBytes(rows, data);
  switch (ElementSize(dtype)) {
    case 1:
      return Encode<uint8_t>(row_bytes, data);
    case 2:
      return Encode<uint16_t>(row_bytes, data);
    case 4:
      return Encode<uint32_t>(row_bytes, data);
    case 8:
      return Encode<uint64_t>(row_bytes, data);
    default:
      return;
  }
}

void DeltaDecode(DType dtype, int64_t rows, absl::Span<char> data) {
  if (rows <= 1 || data.empty()) return;
  const size_t row_bytes = RowBytes(rows, data);
  switch (ElementSize(dtype)) {
    case 1:
      return Decode<uint8_t>(row_bytes, data);
    case 2:
      return Decode<uint16_t>(row_bytes, data);
    case 4:
      return Decode<uint32_t>(row_bytes, data);
    case 8:
      return Decode<uint64_t>(row_bytes, data);
    default:
      return;
  }
}

}  // namespace reverb
