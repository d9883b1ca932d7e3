// runtime/allocator.cpp - size classes, caches of threads, shared lists.
#include "runtime/allocator.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <new>
#include <type_traits>

#include "base/index.h"
#include "base/per_thread.h"
#include "base/target.h"
#include "runtime/size_class.h"
#include "runtime/system_memory.h"

namespace shardax::runtime {
namespace {

#if SHARDAX_ADDRESS_SANITIZER
constexpr bool caching = false;
#else
constexpr bool caching = true;
#endif

constexpr std::size_t largest = std::size_t{1} << 46;
// The shared lists keep this much for any use.
constexpr std::size_t cache_floor = std::size_t{256} << 20;
// They keep this part more than was in use at once: blocks of a step's beginning and of its end are
// of other sizes. A step of a GPT-2 of 4 layers takes 600 page faults (40 ms of 700) without it.
constexpr std::int64_t slack = 4;
// Use longer ago than one to two of these does not keep memory.
constexpr std::chrono::seconds window{5};
// A thread's count joins the shared one when it has moved by this much.
constexpr std::int64_t count_slack = 64 << 10;

// The blocks of one class that a thread keeps: at most 128 KB, but 2 blocks.
constexpr std::size_t local_depth(std::size_t bytes) {
  return std::clamp<std::size_t>((128 << 10) / bytes, 2, 64);
}

constexpr std::size_t class_count = size_class(largest).index + 1;
constexpr std::size_t local_classes = size_class(64 << 10).index + 1;

// A free block holds the link to the next.
struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head = nullptr;
  std::size_t count = 0;

  void push(std::byte* block) {
    head = new (block) FreeBlock{head};
    ++count;
  }
  std::byte* pop() {
    FreeBlock* block = head;
    head = block->next;
    --count;
    return reinterpret_cast<std::byte*>(block);
  }
};

std::byte* from_system(std::size_t bytes) {
  std::byte* block = system_allocate(bytes);
  if (!block) {
    trim();
    block = system_allocate(bytes);
  }
  if (!block) throw OutOfMemory(bytes);
  return block;
}

struct ThreadCache {
  std::array<FreeList, local_classes> lists;
  // Bytes handed out less those given back by this thread since it last reported them.
  std::atomic<std::int64_t> unreported{0};
  // Bytes on `lists`.
  std::atomic<std::int64_t> cached{0};
  ThreadCache* previous = nullptr;
  ThreadCache* next = nullptr;
};

// Only the owner writes, so that no locked instruction is needed.
std::int64_t add(std::atomic<std::int64_t>& count, std::int64_t change) {
  const std::int64_t sum = count.load(std::memory_order_relaxed) + change;
  count.store(sum, std::memory_order_relaxed);
  return sum;
}

struct Shared {
  std::mutex mutex;
  std::array<FreeList, class_count> lists;
  std::array<std::size_t, class_count> bytes{};       // of one block of each class
  std::array<std::uint64_t, class_count> last_use{};  // in ticks
  std::uint64_t tick = 0;
  std::size_t cached = 0;
  std::array<std::int64_t, 2> most_in_use{};  // of this window and the one before
  std::chrono::steady_clock::time_point window_start{};
  ThreadCache* threads = nullptr;
  std::atomic<std::int64_t> in_use{0};

  void count(std::int64_t change) { in_use.fetch_add(change, std::memory_order_relaxed); }

  // The rest needs the mutex.
  std::byte* take(const SizeClass& c) {
    last_use[c.index] = ++tick;
    FreeList& list = lists[c.index];
    if (list.count == 0) return nullptr;
    cached -= c.bytes;
    return list.pop();
  }

  void put(std::byte* block, const SizeClass& c) {
    last_use[c.index] = ++tick;
    lists[c.index].push(block);
    bytes[c.index] = c.bytes;
    cached += c.bytes;
  }

  std::size_t limit() {
    const auto now = std::chrono::steady_clock::now();
    const std::int64_t used = in_use.load(std::memory_order_relaxed);
    if (now - window_start > window) {
      most_in_use = {used, most_in_use[0]};
      window_start = now;
    }
    const std::int64_t most = std::max(most_in_use[0], most_in_use[1]);
    const std::int64_t spare = most + most / slack - used;
    return std::max(cache_floor, index(std::max<std::int64_t>(spare, 0)));
  }

  // From now on, memory that was used before keeps none.
  void forget_use() { most_in_use.fill(in_use.load(std::memory_order_relaxed)); }

  // Takes blocks off the lists until no more than `keep` bytes are cached.
  FreeList surplus(std::size_t keep) {
    FreeList out;
    while (cached > keep) {
      std::size_t oldest = class_count;
      for (std::size_t i = 0; i < class_count; ++i) {
        if (lists[i].count == 0) continue;
        if (oldest == class_count || last_use[i] < last_use[oldest]) oldest = i;
      }
      FreeList& list = lists[oldest];
      while (list.count > 0 && cached > keep) {
        std::byte* block = list.pop();
        cached -= bytes[oldest];
        out.push(block);
        // The size follows the link.
        new (block + sizeof(FreeBlock)) std::size_t{bytes[oldest]};
      }
    }
    return out;
  }
};

// Usable before and after the constructors and destructors of other files' constants run: no
// destructor takes it away, as macOS's mutex has one.
union Kept {
  constexpr Kept() : shared() {}
  ~Kept() {}
  Shared shared;
};
constinit Kept kept;
constinit Shared& shared = kept.shared;

// A fork does not catch the lists locked by a thread that the child does not have.
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] { shared.mutex.lock(); }, [] { shared.mutex.unlock(); }, [] { shared.mutex.unlock(); });

void release(FreeList blocks) noexcept {
  while (blocks.count > 0) {
    std::byte* block = blocks.pop();
    system_free(block, *std::launder(reinterpret_cast<std::size_t*>(block + sizeof(FreeBlock))));
  }
}

// Moves blocks of a thread's list to the shared one until `keep` are left.
void spill(ThreadCache& cache, const SizeClass& c, std::size_t keep) noexcept {
  FreeList& list = cache.lists[c.index];
  FreeList surplus;
  {
    const std::lock_guard lock(shared.mutex);
    while (list.count > keep) {
      shared.put(list.pop(), c);
      add(cache.cached, -static_cast<std::int64_t>(c.bytes));
    }
    if (shared.cached > cache_floor) surplus = shared.surplus(shared.limit());
  }
  release(surplus);
}

constinit thread_local ThreadCache* thread_cache = nullptr;
constinit thread_local bool thread_ends = false;

struct ThreadCacheOwner {
  ThreadCache* cache = nullptr;
  ThreadCacheOwner() = default;
  ThreadCacheOwner(const ThreadCacheOwner&) = delete;
  ThreadCacheOwner& operator=(const ThreadCacheOwner&) = delete;
  ~ThreadCacheOwner() {
    thread_ends = true;
    thread_cache = nullptr;
    if (!cache) return;
    for (std::size_t i = 0; i < local_classes; ++i) spill(*cache, class_at(i), 0);
    shared.count(cache->unreported.load(std::memory_order_relaxed));
    const std::lock_guard lock(shared.mutex);
    (cache->previous ? cache->previous->next : shared.threads) = cache->next;
    if (cache->next) cache->next->previous = cache->previous;
    delete cache;
  }
};

// Null when the thread ends, or without memory.
ThreadCache* make_thread_cache() noexcept {
  if (!caching || thread_ends) return nullptr;
  try {
    ThreadCacheOwner& owner = per_thread<ThreadCacheOwner, ThreadCacheOwner>();
    owner.cache = thread_cache = new ThreadCache;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  const std::lock_guard lock(shared.mutex);
  thread_cache->next = shared.threads;
  if (shared.threads) shared.threads->previous = thread_cache;
  shared.threads = thread_cache;
  return thread_cache;
}

ThreadCache* current_cache() noexcept {
  ThreadCache* cache = thread_cache;
  return cache ? cache : make_thread_cache();
}

void count(ThreadCache* cache, std::int64_t change) noexcept {
  if (!cache) return shared.count(change);
  const std::int64_t sum = add(cache->unreported, change);
  if (sum > count_slack || sum < -count_slack) {
    cache->unreported.store(0, std::memory_order_relaxed);
    shared.count(sum);
  }
}

std::byte* take_shared(const SizeClass& c) {
  if (caching) {
    const std::lock_guard lock(shared.mutex);
    if (std::byte* block = shared.take(c)) return block;
  }
  return from_system(c.bytes);
}

// A block for the caller, and half a list of them for later where the shared list has some.
std::byte* refill(ThreadCache& cache, const SizeClass& c) {
  {
    const std::lock_guard lock(shared.mutex);
    FreeList& list = cache.lists[c.index];
    const std::size_t wanted = std::min(local_depth(c.bytes) / 2, shared.lists[c.index].count);
    for (std::size_t i = 1; i < wanted; ++i) {
      list.push(shared.take(c));
      add(cache.cached, static_cast<std::int64_t>(c.bytes));
    }
    if (std::byte* block = shared.take(c)) return block;
  }
  return from_system(c.bytes);
}

void give_back(std::byte* block, const SizeClass& c) noexcept {
  const auto bytes = static_cast<std::int64_t>(c.bytes);
  if (!caching) {
    shared.count(-bytes);
    return system_free(block, c.bytes);
  }
  FreeList surplus;
  {
    const std::lock_guard lock(shared.mutex);
    // Memory is in use at its most just before some is given back.
    shared.most_in_use[0] =
        std::max(shared.most_in_use[0], shared.in_use.load(std::memory_order_relaxed));
    shared.count(-bytes);
    shared.put(block, c);
    if (shared.cached > cache_floor) surplus = shared.surplus(shared.limit());
  }
  release(surplus);
}

}  // namespace

OutOfMemory::OutOfMemory(std::size_t bytes) noexcept {
  std::snprintf(text_.data(), text_.size(),
                "RESOURCE_EXHAUSTED: Out of memory allocating %zu bytes.", bytes);
}

std::byte* allocate(std::size_t bytes) {
  if (bytes > largest) throw OutOfMemory(bytes);
  const SizeClass c = size_class(bytes);
  ThreadCache* cache = current_cache();
  std::byte* block;
  if (cache && c.index < local_classes) {
    FreeList& list = cache->lists[c.index];
    if (list.count > 0) {
      block = list.pop();
      add(cache->cached, -static_cast<std::int64_t>(c.bytes));
    } else {
      block = refill(*cache, c);
    }
  } else {
    block = take_shared(c);
  }
  count(cache, static_cast<std::int64_t>(c.bytes));
  return block;
}

void deallocate(std::byte* block, std::size_t bytes) noexcept {
  const SizeClass c = size_class(bytes);
  ThreadCache* cache = current_cache();
  if (cache && c.index < local_classes) {
    FreeList& list = cache->lists[c.index];
    list.push(block);
    add(cache->cached, static_cast<std::int64_t>(c.bytes));
    if (list.count > local_depth(c.bytes)) spill(*cache, c, local_depth(c.bytes) / 2);
    count(cache, -static_cast<std::int64_t>(c.bytes));
  } else {
    give_back(block, c);
  }
}

AllocatorStats allocator_stats() {
  const std::lock_guard lock(shared.mutex);
  std::int64_t used = shared.in_use.load();
  std::int64_t cached = static_cast<std::int64_t>(shared.cached);
  for (const ThreadCache* cache = shared.threads; cache; cache = cache->next) {
    used += cache->unreported.load(std::memory_order_relaxed);
    cached += cache->cached.load(std::memory_order_relaxed);
  }
  const auto bytes = [](std::int64_t n) { return index(std::max<std::int64_t>(n, 0)); };
  return {bytes(used), bytes(cached)};
}

void trim() {
  if (ThreadCache* cache = thread_cache) {
    for (std::size_t i = 0; i < local_classes; ++i) spill(*cache, class_at(i), 0);
  }
  FreeList surplus;
  {
    const std::lock_guard lock(shared.mutex);
    shared.forget_use();
    surplus = shared.surplus(0);
  }
  release(surplus);
  trim_heap();
}

}  // namespace shardax::runtime
