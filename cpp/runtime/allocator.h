// runtime/allocator.h - a caching allocator: fresh pages cost more than most kernels.
//
// A request is rounded up to a size class, four per power of two. Blocks of up to 64 KB come from a
// cache of the calling thread, without a lock. Larger ones, and the surplus of a thread's cache,
// lie on shared lists. Any thread may give back any block. Blocks are aligned to 64 bytes; those
// from 2 MB on start on a huge page and ask the kernel for such pages. Contents are arbitrary.
//
// The shared lists keep at most 256 MB, or 5/4 of the most recent use less the present use: a loop
// finds its temporaries again. Classes unused for longest go first. A child made by fork can
// allocate at once. Under AddressSanitizer nothing is cached.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace shardax::runtime {

// Thrown by `allocate`: says how many bytes were asked for.
class OutOfMemory final : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes) noexcept;
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 96> text_;
};

// Throws OutOfMemory. A block of 0 bytes is one of 64.
std::byte* allocate(std::size_t bytes);
// `bytes` is the size that was asked for.
void deallocate(std::byte* block, std::size_t bytes) noexcept;

struct AllocatorStats {
  std::size_t in_use;  // bytes handed out, rounded up to size classes
  std::size_t cached;  // bytes kept for reuse, in threads' caches and on shared lists
};
AllocatorStats allocator_stats();
// Gives the cached memory of the shared lists and of the calling thread, and free pages of the
// heap, back to the system. Use in the past then no longer counts for the size of the lists.
void trim();

}  // namespace shardax::runtime
