// runtime/allocator.h - a caching allocator: fresh pages cost more than most kernels.
//
// Blocks are 64-byte aligned; from 2 MB on they start on a huge page and are advised as such.
// Small blocks come from a cache of the calling thread, without a lock; larger ones and what a
// thread has too many of lie on shared lists. Cached memory is bounded. Safe after fork.
#pragma once

#include <cstddef>

namespace shardax::runtime {

// Throws std::bad_alloc. `bytes` must be given back as it was asked for.
std::byte* allocate(std::size_t bytes);
void deallocate(std::byte* block, std::size_t bytes) noexcept;

struct AllocatorStats {
  std::size_t in_use;       // bytes handed out, rounded up to size classes
  std::size_t peak_in_use;  // the most since the last reset_peak
  std::size_t cached;       // bytes kept for reuse on shared lists
};
AllocatorStats allocator_stats();
void reset_peak();
// Gives cached memory of the shared lists back to the system.
void trim();

}  // namespace shardax::runtime
