// runtime/scratch.h - vectors of numbers in memory of the caching allocator, not cleared.
#pragma once

#include <type_traits>
#include <vector>

#include "runtime/allocator.h"

namespace shardax::runtime {

template <class T>
struct CachedMemory {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  using value_type = T;

  CachedMemory() = default;
  template <class U>
  explicit CachedMemory(const CachedMemory<U>&) {}
  T* allocate(std::size_t n) { return reinterpret_cast<T*>(runtime::allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept {
    runtime::deallocate(reinterpret_cast<std::byte*>(p), n * sizeof(T));
  }
  // A number without a value gets none, not even 0.
  void construct(T*) noexcept {}
  template <class Value>
  void construct(T* p, Value&& value) noexcept {
    ::new (static_cast<void*>(p)) T(static_cast<Value&&>(value));
  }
  bool operator==(const CachedMemory&) const = default;
};

// Numbers that are written before they are read: large ones cost no fresh pages from call to call.
template <class T>
using Scratch = std::vector<T, CachedMemory<T>>;

}  // namespace shardax::runtime
