// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/codec/snappy_block.h"

#include <snappy.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include <snappy-sinksource.h>

namespace reverb {
namespace {

// Snappy looks for matches within pieces of this size alone, so a piece says
// what all of it can save.
constexpr size_t kPieceBytes = 64 << 10;
// A literal's tag: two zero bits, then its length less one if that is below
// 60, else 59 plus the number of length bytes that follow.
constexpr size_t kMaxShortLiteral = 60;

// Appends to a string piece by piece. Compressing in place would mean zeroing
// the worst case of the whole first.
class StringSink final : public snappy::Sink {
 public:
  explicit StringSink(std::string& out) : out_(out) {}
  void Append(const char* bytes, size_t n) override { out_.append(bytes, n); }

 private:
  std::string& out_;
};

class CountingSink final : public snappy::Sink {
 public:
  void Append(const char*, size_t n) override { size_ += n; }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

// Whether compressing to `compressed` bytes isn't worth what readers pay: it
// saves less than a sixteenth.
bool NotWorthIt(size_t raw, size_t compressed) {
  return compressed > raw - raw / 16;
}

bool PieceIsNotWorthIt(absl::string_view piece) {
  snappy::ByteArraySource source(piece.data(), piece.size());
  CountingSink sink;
  snappy::Compress(&source, &sink);
  return NotWorthIt(piece.size(), sink.size());
}

absl::Status Corrupt() { return absl::DataLossError("corrupt snappy block"); }

struct Preamble {
  size_t raw_size;
  absl::string_view rest;  // the elements
};

std::optional<Preamble> ReadPreamble(absl::string_view block) {
  uint64_t size = 0;
  for (size_t i = 0; i < 5 && i < block.size(); ++i) {
    const auto byte = static_cast<uint8_t>(block[i]);
    size |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte >= 0x80) continue;
    if (size > UINT32_MAX) return std::nullopt;
    return Preamble{static_cast<size_t>(size), block.substr(i + 1)};
  }
  return std::nullopt;
}

}  // namespace

void SnappyCompress(absl::string_view raw, std::string& out) {
  snappy::ByteArraySource source(raw.data(), raw.size());
  StringSink sink(out);
  snappy::Compress(&source, &sink);
}

void SnappyStore(absl::string_view raw, std::string& out) {
  char head[10];
  size_t n = 0;
  auto length = static_cast<uint32_t>(raw.size());
  for (; length >= 0x80; length >>= 7) {
    head[n++] = static_cast<char>(length | 0x80);
  }
  head[n++] = static_cast<char>(length);
  if (!raw.empty()) {
    auto less_one = static_cast<uint32_t>(raw.size() - 1);
    if (less_one < kMaxShortLiteral) {
      head[n++] = static_cast<char>(less_one << 2);
    } else {
      char& tag = head[n++];
      int num_bytes = 0;
      for (; less_one > 0; less_one >>= 8, ++num_bytes) {
        head[n++] = static_cast<char>(less_one);
      }
      tag = static_cast<char>((kMaxShortLiteral - 1 + num_bytes) << 2);
    }
  }
  out.reserve(out.size() + n + raw.size());
  out.append(head, n);
  out.append(raw.data(), raw.size());
}

void SnappyPack(absl::string_view raw, std::string& out) {
  if (raw.size() <= kPieceBytes) {
    const size_t begin = out.size();
    SnappyCompress(raw, out);
    if (NotWorthIt(raw.size(), out.size() - begin)) {
      out.resize(begin);
      SnappyStore(raw, out);
    }
    return;
  }
  const size_t middle = raw.size() / 2 / kPieceBytes * kPieceBytes;
  if (PieceIsNotWorthIt(raw.substr(0, kPieceBytes)) &&
      PieceIsNotWorthIt(raw.substr(middle, kPieceBytes))) {
    SnappyStore(raw, out);
  } else {
    SnappyCompress(raw, out);
  }
}

absl::StatusOr<size_t> SnappyRawSize(absl::string_view block) {
  const std::optional<Preamble> preamble = ReadPreamble(block);
  if (!preamble) return Corrupt();
  // The densest element is a copy: three bytes that stand for 64.
  if (uint64_t{preamble->raw_size} * 3 > uint64_t{preamble->rest.size()} * 64) {
    return absl::DataLossError(absl::StrCat(
        "corrupt snappy block: ", block.size(), " bytes can't hold the ",
        preamble->raw_size, " they claim"));
  }
  return preamble->raw_size;
}

std::optional<absl::string_view> SnappyLiteral(absl::string_view block) {
  const std::optional<Preamble> preamble = ReadPreamble(block);
  if (!preamble) return std::nullopt;
  absl::string_view rest = preamble->rest;
  if (rest.empty() || (rest.front() & 3) != 0) return std::nullopt;
  size_t less_one = static_cast<uint8_t>(rest.front()) >> 2;
  rest.remove_prefix(1);
  if (less_one >= kMaxShortLiteral) {
    const size_t num_bytes = less_one - (kMaxShortLiteral - 1);
    if (rest.size() < num_bytes) return std::nullopt;
    less_one = 0;
    for (size_t i = 0; i < num_bytes; ++i) {
      less_one |= size_t{static_cast<uint8_t>(rest[i])} << (8 * i);
    }
    rest.remove_prefix(num_bytes);
  }
  if (rest.size() != less_one + 1 || rest.size() != preamble->raw_size) {
    return std::nullopt;
  }
  return rest;
}

absl::Status SnappyUncompress(absl::string_view block, absl::Span<char> out) {
  const absl::StatusOr<size_t> raw_size = SnappyRawSize(block);
  if (!raw_size.ok()) return raw_size.status();
  if (*raw_size != out.size()) {
    return absl::DataLossError(absl::StrCat(
        "snappy block of ", *raw_size, " bytes where ", out.size(), " belong"));
  }
  if (const std::optional<absl::string_view> literal = SnappyLiteral(block)) {
    std::copy(literal->begin(), literal->end(), out.data());
    return absl::OkStatus();
  }
  char nothing;
  char* const to = out.empty() ? &nothing : out.data();
  if (!snappy::RawUncompress(block.data(), block.size(), to)) return Corrupt();
  return absl::OkStatus();
}

}  // namespace reverb
