// kernels/room.h - memory for the time of a call.
#pragma once

#include <cstdint>

#include "runtime/allocator.h"

namespace shardax::kernels {

// Uninitialised, aligned to 64 bytes, from the caching allocator; none for no elements.
template <class T>
class Room {
 public:
  explicit Room(std::int64_t count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(T)),
        memory_(bytes_ > 0 ? runtime::allocate(bytes_) : nullptr) {}
  ~Room() {
    if (memory_) runtime::deallocate(memory_, bytes_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  T* data() const { return reinterpret_cast<T*>(memory_); }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

}  // namespace shardax::kernels
