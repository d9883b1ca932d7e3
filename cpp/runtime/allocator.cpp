// runtime/allocator.cpp - size classes, thread caches and shared lists.
#include "runtime/allocator.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace shardax::runtime {
namespace {

constexpr std::size_t smallest = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
// Blocks up to this size are cached per thread, at most `thread_depth` of each class.
constexpr std::size_t thread_limit = std::size_t{1} << 20;
constexpr std::size_t thread_depth = 16;
// The shared lists keep at most this much, or a quarter of the peak.
constexpr std::size_t cache_floor = std::size_t{256} << 20;

constexpr std::size_t class_count = 4 * 58;

// Four classes per power of two: at most a quarter of a block is slack.
struct SizeClass {
  std::size_t index;
  std::size_t bytes;
};
SizeClass size_class(std::size_t bytes) {
  bytes = std::max(bytes, smallest);
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes <= 2^(power+1)
  const std::size_t quarter = std::max<std::size_t>((std::size_t{1} << power) / 4, 16);
  const std::size_t base = std::size_t{1} << power;
  const std::size_t steps = (bytes - base + quarter - 1) / quarter;
  const std::size_t rounded = (base + steps * quarter + 63) / 64 * 64;
  return {std::min(power * 4 + steps, class_count - 1), rounded};
}

std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> peak{0};

struct SharedLists {
  std::mutex mutex;
  std::array<std::vector<std::byte*>, class_count> free;
  std::array<std::size_t, class_count> bytes{};
  std::size_t cached = 0;

  void release_all() {
    for (auto& list : free) {
      for (std::byte* block : list) std::free(block);
      list.clear();
    }
    cached = 0;
  }
};

// Never destroyed: threads give blocks back while the process ends.
SharedLists& shared_lists() {
  static SharedLists& lists = *[] {
    auto* made = new SharedLists;
    // A fork must not catch the lists locked by a thread that the child does not have.
    pthread_atfork([] { shared_lists().mutex.lock(); }, [] { shared_lists().mutex.unlock(); },
                   [] { shared_lists().mutex.unlock(); });
    return made;
  }();
  return lists;
}

std::byte* from_system(std::size_t bytes) {
  const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, rounded);
  if (!block) {
    trim();
    block = std::aligned_alloc(alignment, rounded);
    if (!block) throw std::bad_alloc();
  }
  if (bytes >= huge_page) madvise(block, rounded, MADV_HUGEPAGE);
  return static_cast<std::byte*>(block);
}

void to_shared(std::byte* block, const SizeClass& c) noexcept {
  SharedLists& lists = shared_lists();
  const std::lock_guard lock(lists.mutex);
  const std::size_t limit = std::max(cache_floor, peak.load(std::memory_order_relaxed) / 4);
  if (lists.cached + c.bytes > limit) {
    std::free(block);
    return;
  }
  try {
    lists.free[c.index].push_back(block);
    lists.cached += c.bytes;
    lists.bytes[c.index] = c.bytes;
  } catch (const std::bad_alloc&) {
    std::free(block);
  }
}

std::byte* from_shared(const SizeClass& c) {
  SharedLists& lists = shared_lists();
  const std::lock_guard lock(lists.mutex);
  auto& list = lists.free[c.index];
  if (list.empty()) return nullptr;
  std::byte* block = list.back();
  list.pop_back();
  lists.cached -= c.bytes;
  return block;
}

struct ThreadCache {
  struct List {
    std::array<std::byte*, thread_depth> blocks;
    std::size_t count = 0;
    std::size_t bytes = 0;
  };
  std::array<List, 4 * 21> lists;
  ~ThreadCache();
};

thread_local bool cache_gone = false;

ThreadCache::~ThreadCache() {
  cache_gone = true;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (std::size_t k = 0; k < lists[i].count; ++k) to_shared(lists[i].blocks[k], {i, lists[i].bytes});
  }
}

ThreadCache::List* thread_list(const SizeClass& c) {
  if (c.bytes > thread_limit || cache_gone) return nullptr;
  thread_local ThreadCache cache;
  return c.index < cache.lists.size() ? &cache.lists[c.index] : nullptr;
}

void count_allocation(std::size_t bytes) {
  const std::size_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

std::byte* allocate(std::size_t bytes) {
  const SizeClass c = size_class(bytes);
  std::byte* block = nullptr;
  if (ThreadCache::List* list = thread_list(c); list && list->count > 0) {
    block = list->blocks[--list->count];
  } else {
    block = from_shared(c);
    if (!block) block = from_system(c.bytes);
  }
  count_allocation(c.bytes);
  return block;
}

void deallocate(std::byte* block, std::size_t bytes) noexcept {
  const SizeClass c = size_class(bytes);
  in_use.fetch_sub(c.bytes, std::memory_order_relaxed);
  if (ThreadCache::List* list = thread_list(c); list && list->count < thread_depth) {
    list->blocks[list->count++] = block;
    list->bytes = c.bytes;
    return;
  }
  to_shared(block, c);
}

AllocatorStats allocator_stats() {
  SharedLists& lists = shared_lists();
  const std::lock_guard lock(lists.mutex);
  return {in_use.load(), peak.load(), lists.cached};
}

void reset_peak() { peak.store(in_use.load()); }

void trim() {
  SharedLists& lists = shared_lists();
  const std::lock_guard lock(lists.mutex);
  lists.release_all();
}

}  // namespace shardax::runtime
