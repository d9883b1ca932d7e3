// kernels/aligned_buffer.h - memory for the time of a call.
#pragma once

#include <cstdint>

#include "base/index.h"
#include "runtime/allocator.h"

namespace shardax::kernels {

// Uninitialised, aligned to 64 bytes, from the caching allocator; none for no elements.
template <class T>
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::int64_t count)
      : size_(count), memory_(count > 0 ? runtime::allocate(bytes()) : nullptr) {}
  ~AlignedBuffer() {
    if (memory_) runtime::deallocate(memory_, bytes());
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  T* data() const { return reinterpret_cast<T*>(memory_); }
  T& operator[](std::int64_t i) const { return data()[i]; }
  std::int64_t size() const { return size_; }

 private:
  std::size_t bytes() const { return index(size_) * sizeof(T); }

  std::int64_t size_;
  std::byte* memory_;
};

}  // namespace shardax::kernels
