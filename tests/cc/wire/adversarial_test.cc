// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Every parser meets cut, flipped and made-up bytes: it answers with a status,
// and what it allocates stays in proportion to what it was given.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "reverb/cc/wire/data_messages.h"
#include "reverb/cc/wire/messages.h"
#include "reverb/cc/wire/pattern_config.h"
#include "tests/cc/wire/test_messages.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define REVERB_COUNTS_ALLOCATIONS 1

namespace {

// Bytes asked of operator new by this thread since it was last zeroed.
thread_local size_t allocated_bytes = 0;

}  // namespace

void* operator new(size_t size) {
  allocated_bytes += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace reverb::wire {
namespace {

// Gives `bytes` to every parser. Returns whether any took them.
bool ParseAsAnything(const std::string& bytes) {
  bool taken = false;
  auto note = [&taken](bool ok) { taken = taken || ok; };
  const absl::string_view whole = bytes;
  note(ParseInsertRequest({&whole, 1}, Limits()).ok());
  note(ParseInsertRequest(Cut(bytes, 16), Limits()).ok());
  note(ParseInsertResponse(bytes).ok());
  note(ParseSampleRequest(bytes).ok());
  note(ParseSampleResponse(bytes).ok());
  note(ParseMutateRequest(bytes).ok());
  note(ParseResetRequest(bytes).ok());
  note(CheckEmptyRequest(bytes).ok());
  note(ParseCheckpointResponse(bytes).ok());
  note(ParseServerInfoResponse(bytes).ok());
  note(CheckInitializeConnectionRequest(bytes).ok());
  note(ParseChunkBytes(bytes).ok());
  note(ParseChunkView(bytes).ok());
  note(ParseSignature(bytes).ok());
  note(ParsePatternConfig(bytes).ok());
  SignatureText(bytes);
  return taken;
}

// Large recordings are cut to what a test has time for.
std::vector<RecordedMessage> Seeds() {
  std::vector<RecordedMessage> seeds = RecordedMessages();
  for (RecordedMessage& seed : seeds) {
    if (seed.bytes.size() > 3000) seed.bytes.resize(3000);
  }
  return seeds;
}

TEST(Adversarial, EveryRecordedMessageIsTaken) {
  int count = 0;
  for (const RecordedMessage& message : RecordedMessages()) {
    const std::string& bytes = message.bytes;
    absl::Status status;
    if (message.Is("InsertStream", "req")) {
      status = ParseInsertRequest(Cut(bytes, 100), Limits()).status();
    } else if (message.Is("InsertStream", "resp")) {
      status = ParseInsertResponse(bytes).status();
    } else if (message.Is("SampleStream", "req")) {
      // These two are recorded because they are refused.
      status = ParseSampleRequest(bytes).status();
      if (message.name == "errors/038_SampleStream_call10_req.bin" ||
          message.name == "errors/041_SampleStream_call11_req.bin") {
        EXPECT_FALSE(status.ok());
        continue;
      }
    } else if (message.Is("SampleStream", "resp")) {
      status = ParseSampleResponse(bytes).status();
    } else if (message.Is("MutatePriorities", "req")) {
      status = ParseMutateRequest(bytes).status();
    } else if (message.Is("Reset", "req")) {
      status = ParseResetRequest(bytes).status();
    } else if (message.Is("ServerInfo", "resp")) {
      status = ParseServerInfoResponse(bytes).status();
    } else if (message.Is("Checkpoint", "resp")) {
      status = ParseCheckpointResponse(bytes).status();
    } else if (message.Is("InitializeConnection", "req")) {
      status = CheckInitializeConnectionRequest(bytes);
    } else {
      status = CheckEmptyRequest(bytes);
    }
    EXPECT_TRUE(status.ok()) << message.name << ": " << status;
    ++count;
  }
  EXPECT_GT(count, 70);
}

TEST(Adversarial, MessagesCutShortAnywhereAreAnswered) {
  for (const RecordedMessage& seed : Seeds()) {
    const size_t step = seed.bytes.size() > 500 ? 7 : 1;
    for (size_t size = 0; size < seed.bytes.size(); size += step) {
      ParseAsAnything(seed.bytes.substr(0, size));
    }
  }
}

TEST(Adversarial, FlippedBitsAreAnswered) {
  std::mt19937_64 random(20260101);
  for (const RecordedMessage& seed : Seeds()) {
    if (seed.bytes.empty()) continue;
    for (int round = 0; round < 60; ++round) {
      std::string bytes = seed.bytes;
      for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
        const uint64_t bit = random() % (bytes.size() * 8);
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      }
      ParseAsAnything(bytes);
    }
  }
}

TEST(Adversarial, RandomBytesAreAnswered) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes(random() % 64, '\0');
    // Small numbers make likely tags and lengths.
    for (char& byte : bytes) {
      byte = static_cast<char>(random() % (random() % 2 == 0 ? 256 : 20));
    }
    ParseAsAnything(bytes);
  }
}

#ifdef REVERB_COUNTS_ALLOCATIONS
// What parsing asks for, all in all. Lists grow by doubling: twice the largest
// record for its smallest encoding is the most.
size_t AllocationOf(const std::string& bytes) {
  const absl::string_view whole = bytes;
  allocated_bytes = 0;
  (void)ParseInsertRequest({&whole, 1}, Limits());
  return allocated_bytes;
}

std::string Nested(std::vector<uint32_t> fields, std::string bytes) {
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    bytes = Message([&](pbf_writer& out) { out.add_message(*field, bytes); });
  }
  return bytes;
}

std::string Repeat(const std::string& bytes, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += bytes;
  return result;
}

TEST(Adversarial, MemoryStaysInProportion) {
  // Claims of 2^63 and the like cost nothing.
  for (const char* claim : {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                            "\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                            "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"}) {
    EXPECT_LT(AllocationOf(claim), 4096u);
  }
  const std::string empty_slices =
      Nested({2, 8, 1}, Repeat(std::string("\x0a\x00", 2), 500'000));
  EXPECT_LT(AllocationOf(empty_slices), 40 * empty_slices.size());
  const std::string keys = Nested({3}, std::string(1'000'000, '\1'));
  EXPECT_LT(AllocationOf(keys), 10 * keys.size());
  const std::string unpacked_keys = Repeat("\x18\x01", 500'000);
  EXPECT_LT(AllocationOf(unpacked_keys), 20 * unpacked_keys.size());
  // Refused before anything is made of them.
  const std::string empty_items = Repeat(std::string("\x12\x00", 2), 100'001);
  EXPECT_LT(AllocationOf(empty_items), 4096u);
  const std::string empty_chunks = Repeat(std::string("\x0a\x00", 2), 500'000);
  EXPECT_LT(AllocationOf(empty_chunks), 10 * empty_chunks.size());
  const std::string empty_tensors =
      Nested({1, 5}, Repeat(std::string("\x0a\x00", 2), 500'000));
  EXPECT_LT(AllocationOf(empty_tensors), 2 * empty_tensors.size() + 4096);
}
#endif

}  // namespace
}  // namespace reverb::wire
