// runtime/system_memory.cpp - malloc for small blocks, mappings for large ones.
#include "runtime/system_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>

#include "base/index.h"
#endif

namespace shardax::runtime {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

// malloc cannot align to huge pages without keeping up to 2 MB more.
constexpr bool is_mapped(std::size_t bytes) { return bytes >= huge_page; }

// Pages have 4 KB on x86-64, up to 64 KB on AArch64.
std::size_t mapped_length(std::size_t bytes) {
  static const auto page = index(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

std::byte* map_aligned(std::size_t bytes) {
  const std::size_t length = mapped_length(bytes);
  const std::size_t padded = length + huge_page;
  void* mapped = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(mapped);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(start) % huge_page;
  std::byte* block = start + before;
  if (before > 0) munmap(start, before);
  if (before < huge_page) munmap(block + length, huge_page - before);
    // Whole huge pages only: the rest at the end must not cost one.
#if defined(MADV_HUGEPAGE)
  madvise(block, bytes / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  return block;
}

}  // namespace

std::byte* system_allocate(std::size_t bytes) noexcept {
  if (is_mapped(bytes)) return map_aligned(bytes);
  void* block = nullptr;
  return posix_memalign(&block, alignment, bytes) == 0 ? static_cast<std::byte*>(block) : nullptr;
}

void system_free(std::byte* block, std::size_t bytes) noexcept {
  if (is_mapped(bytes)) {
    munmap(block, mapped_length(bytes));
  } else {
    std::free(block);
  }
}

void trim_heap() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace shardax::runtime
