// array/exported_buffers.cpp - counts of exports by address.
#include "array/exported_buffers.h"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace shardax {
namespace {

struct Lent {
  std::mutex mutex;
  std::unordered_map<const std::byte*, int> count;
  std::atomic<std::size_t> any{0};  // spares the lock where nothing is lent
};

Lent& lent() {
  static Lent* all = new Lent;  // outlives the arrays that others still hold at exit
  return *all;
}

// A fork does not catch the counts locked by a thread that the child does not have.
[[maybe_unused]] const int lent_fork_handlers = pthread_atfork(
    [] { lent().mutex.lock(); }, [] { lent().mutex.unlock(); }, [] { lent().mutex.unlock(); });

}  // namespace

void export_buffer(const std::byte* data) {
  Lent& all = lent();
  const std::lock_guard lock(all.mutex);
  ++all.count[data];
  all.any = all.count.size();
}

void release_buffer(const std::byte* data) {
  Lent& all = lent();
  const std::lock_guard lock(all.mutex);
  const auto found = all.count.find(data);
  if (found != all.count.end() && --found->second == 0) all.count.erase(found);
  all.any = all.count.size();
}

bool is_exported(const std::byte* data) {
  Lent& all = lent();
  if (all.any == 0) return false;
  const std::lock_guard lock(all.mutex);
  return all.count.contains(data);
}

}  // namespace shardax
