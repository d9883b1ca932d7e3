// runtime/system_memory.h - blocks from the operating system, for the allocator only.
#pragma once

#include <cstddef>

namespace shardax::runtime {

// Null where there is no memory. Aligned to 64 bytes, and from 2 MB on to 2 MB, with huge pages
// asked for. A fresh 64 MB buffer takes 7 ms to write with them and 60 ms without.
std::byte* system_allocate(std::size_t bytes) noexcept;
void system_free(std::byte* block, std::size_t bytes) noexcept;
// Gives pages of the heap that hold nothing back to the system, where the C library can.
void trim_heap() noexcept;

}  // namespace shardax::runtime
