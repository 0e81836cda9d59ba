// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

#include "reverb/cc/tensor/buffer.h"

#include <pthread.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/base/config.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "reverb/cc/support/mutex.h"

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace reverb {
namespace {

// Beyond the address space: not worth asking for.
constexpr size_t kMaxSize = size_t{1} << 46;
constexpr size_t kMaxPooledSize = size_t{64} << 20;   // one buffer
constexpr size_t kMaxClassBytes = size_t{128} << 20;  // idle, of one class
constexpr size_t kMaxPoolBytes = size_t{256} << 20;   // idle, of all classes

// Four classes per doubling from 256 bytes on: at most a quarter is wasted, and
// of that only what lies on touched pages.
constexpr int kMinShift = 8;
constexpr int kStepsPerDoubling = 4;
constexpr int kNumClasses = (26 - kMinShift) * kStepsPerDoubling + 1;

constexpr size_t ClassBytes(int size_class) {
  const size_t base = size_t{1} << (kMinShift + size_class / kStepsPerDoubling);
  return base + base / kStepsPerDoubling * (size_class % kStepsPerDoubling);
}
static_assert(ClassBytes(0) == 256);
static_assert(ClassBytes(1) % kBufferAlignment == 0);
static_assert(ClassBytes(kNumClasses - 1) == kMaxPooledSize);

// The least class that holds `size` bytes; 1 <= size <= kMaxPooledSize.
constexpr int ClassOf(size_t size) {
  if (size <= size_t{1} << kMinShift) return 0;
  // 2^top <= size - 1 < 2^(top + 1).
  const int top = std::bit_width(size - 1) - 1;
  const auto step =
      static_cast<int>((size - 1) >> (top - 2)) - kStepsPerDoubling;
  return (top - kMinShift) * kStepsPerDoubling + step + 1;
}
static_assert(ClassOf(256) == 0 && ClassOf(257) == 1 && ClassOf(512) == 4);
static_assert(ClassOf(kMaxPooledSize) == kNumClasses - 1);

// A buffer at rest holds the link to the next one in its own first bytes, so
// that giving one back never allocates.
struct Idle {
  Idle* next;
};

void Poison([[maybe_unused]] Idle* idle, [[maybe_unused]] size_t bytes) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(idle + 1, bytes - sizeof(Idle));
#endif
}
void Unpoison([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
#endif
}

// The lock is held for a few instructions; memory is asked for and given back
// to the system outside of it.
class Pool {
 public:
  static Pool& Get() {
    static Pool* const pool = Create();
    return *pool;
  }

  // An idle buffer of the class, or null.
  char* Take(int size_class) {
    Idle* idle;
    {
      MutexLock lock(mu_);
      idle = PopLocked(size_class);
    }
    if (idle != nullptr) Unpoison(idle, ClassBytes(size_class));
    return reinterpret_cast<char*>(idle);
  }

  void Give(char* data, int size_class) {
    const size_t bytes = ClassBytes(size_class);
    auto* const idle = reinterpret_cast<Idle*>(data);
    Idle* surplus = nullptr;
    {
      MutexLock lock(mu_);
      Class& own = classes_[size_class];
      if (own.bytes + bytes > kMaxClassBytes) {
        surplus = idle;
        surplus->next = nullptr;
      } else {
        // Room for sizes in use now is made by those that were used before.
        while (total_bytes_ + bytes > kMaxPoolBytes) {
          Idle* const victim = PopVictimLocked();
          victim->next = surplus;
          surplus = victim;
        }
        Poison(idle, bytes);
        idle->next = own.head;
        own.head = idle;
        own.bytes += bytes;
        total_bytes_ += bytes;
      }
    }
    while (surplus != nullptr) {
      Idle* const next = surplus->next;
      std::free(surplus);
      surplus = next;
    }
  }

 private:
  struct Class {
    Idle* head = nullptr;
    size_t bytes = 0;
  };

  // A child may free buffers it inherited: no other thread may hold the lock
  // at the moment of the fork.
  static Pool* Create() {
    auto* const pool = new Pool;
    ::pthread_atfork([] { Get().LockForFork(); },
                     [] { Get().UnlockAfterFork(); },
                     [] { Get().UnlockAfterFork(); });
    return pool;
  }
  void LockForFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mu_.Lock(); }
  void UnlockAfterFork() ABSL_NO_THREAD_SAFETY_ANALYSIS { mu_.Unlock(); }

  Idle* PopLocked(int size_class) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    Class& from = classes_[size_class];
    Idle* const idle = from.head;
    if (idle != nullptr) {
      from.head = idle->next;
      from.bytes -= ClassBytes(size_class);
      total_bytes_ -= ClassBytes(size_class);
    }
    return idle;
  }

  // Requires that something is idle.
  Idle* PopVictimLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    while (classes_[victim_].head == nullptr) {
      victim_ = (victim_ + 1) % kNumClasses;
    }
    Idle* const idle = PopLocked(victim_);
    // The system's allocator takes back what was never poisoned.
    Unpoison(idle, ClassBytes(victim_));
    victim_ = (victim_ + 1) % kNumClasses;
    return idle;
  }

  Mutex mu_;
  Class classes_[kNumClasses] ABSL_GUARDED_BY(mu_);
  size_t total_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int victim_ ABSL_GUARDED_BY(mu_) = 0;  // class to shrink next
};

}  // namespace

absl::StatusOr<Buffer> Buffer::Allocate(size_t size) {
  if (size == 0) return Buffer();
  size_t bytes = size;
  if (size <= kMaxPooledSize) {
    const int size_class = ClassOf(size);
    if (char* const data = Pool::Get().Take(size_class)) {
      return Buffer(data, size);
    }
    bytes = ClassBytes(size_class);
  }
  void* data = nullptr;
  if (bytes > kMaxSize ||
      ::posix_memalign(&data, kBufferAlignment, bytes) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a buffer of ", size, " bytes"));
  }
  return Buffer(static_cast<char*>(data), size);
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  if (size_ <= kMaxPooledSize) {
    Pool::Get().Give(data_, ClassOf(size_));
  } else {
    std::free(data_);
  }
}

}  // namespace reverb
