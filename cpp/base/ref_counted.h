// base/ref_counted.h - intrusive reference counting: one word in the object, atomic.
//
// Objects own others in chains of any length (programs within programs). From some depth on,
// objects that die with their owners wait until these are gone, so that no chain uses up the stack.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardax {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }
  bool unique() const { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  virtual ~RefCounted() = default;

 private:
  void destroy() const;

  mutable std::atomic<std::int32_t> count_{0};
};

template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(std::nullptr_t) {}              // NOLINT: a null pointer is a Shared
  Shared(T* object) : object_(object) {  // NOLINT: so is a new object
    if (object_) object_->retain();
  }
  Shared(const Shared& other) : Shared(other.object_) {}
  Shared(Shared&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Shared(const Shared<U>& other) : Shared(other.get()) {}  // NOLINT: derived to base
  Shared& operator=(Shared other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Shared() {
    if (object_) object_->release();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Shared& a, const Shared& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Shared<T> make_shared_ref(Args&&... args) {
  return Shared<T>(new T(std::forward<Args>(args)...));
}

}  // namespace shardax
