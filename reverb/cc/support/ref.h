// Copyright 2026 The Reverb Authors
// SPDX-License-Identifier: Apache-2.0

// Intrusive reference counting: one word in the object, one in the pointer.
//
// A table holds a million items and each points at chunks; std::shared_ptr
// would double the pointers and add a control block to each of both.
//
// Threads: counting is thread-safe; the pointed-to object is what it is.

#ifndef REVERB_CC_SUPPORT_REF_H_
#define REVERB_CC_SUPPORT_REF_H_

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace reverb {

// Base of a counted type `T`; deletes `T` when the last `Ref<T>` lets go.
template <typename T>
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void AddRef() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void Release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete static_cast<const T*>(this);
    }
  }
  // Whether there is one reference in all; another thread may change that at
  // once, unless the caller holds the one.
  bool IsUnique() const { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  ~RefCounted() = default;

 private:
  mutable std::atomic<uint32_t> count_{0};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  // From Ref<T> to Ref<const T>, or to a base.
  template <typename U>
    requires std::convertible_to<U*, T*>
  Ref(const Ref<U>& other)  // NOLINT(google-explicit-constructor)
      : Ref(static_cast<T*>(other.get())) {}
  template <typename U>
    requires std::convertible_to<U*, T*>
  Ref(Ref<U>&& other)  // NOLINT(google-explicit-constructor)
      : object_(other.Leak()) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->Release();
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

  // Gives up the reference without releasing it; `Adopt` takes it back.
  T* Leak() { return std::exchange(object_, nullptr); }
  static Ref Adopt(T* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }

  friend bool operator==(const Ref& a, const Ref& b) {
    return a.object_ == b.object_;
  }

 private:
  T* object_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace reverb

#endif  // REVERB_CC_SUPPORT_REF_H_
