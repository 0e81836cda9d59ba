// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/wire/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace reverb::wire {

bool IsUtf8(absl::string_view bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  while (p != end) {
    if (end - p >= 8) {  // names are ASCII
      uint64_t word;
      std::memcpy(&word, p, 8);
      if ((word & 0x8080808080808080) == 0) {
        p += 8;
        continue;
      }
    }
    const uint8_t lead = static_cast<uint8_t>(*p++);
    if (lead < 0x80) continue;
    int more;
    uint32_t code;
    uint32_t least;  // that needs so many bytes
    if ((lead & 0xe0) == 0xc0) {
      more = 1, code = lead & 0x1f, least = 0x80;
    } else if ((lead & 0xf0) == 0xe0) {
      more = 2, code = lead & 0x0f, least = 0x800;
    } else if ((lead & 0xf8) == 0xf0) {
      more = 3, code = lead & 0x07, least = 0x10000;
    } else {
      return false;
    }
    if (end - p < more) return false;
    for (; more > 0; --more) {
      const uint8_t byte = static_cast<uint8_t>(*p++);
      if ((byte & 0xc0) != 0x80) return false;
      code = code << 6 | (byte & 0x3f);
    }
    if (code < least || code > 0x10ffff) return false;
    if (code >= 0xd800 && code <= 0xdfff) return false;
  }
  return true;
}

}  // namespace reverb::wire
