// runtime/startable.cpp - starts threads that wait for each other.
#include "runtime/startable.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <semaphore>
#include <vector>

#include "base/index.h"

namespace shardax::runtime {
namespace {

using Gate = std::counting_semaphore<>;

// A thread without memory for its own data is of no use: not null.
void* wait_at(void* gate) {
  constexpr std::size_t own_bytes = 64 << 10;
  void* volatile const own = std::malloc(own_bytes);
  static_cast<Gate*>(gate)->acquire();
  std::free(own);
  return own ? nullptr : gate;
}

// glibc keeps up to 40 MB of the stacks of threads that have ended for the next ones. Fewer leave
// room for the memory that the first tasks of these threads allocate at the same time.
constexpr std::size_t kept_stacks = std::size_t{24} << 20;

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Threads and their work need memory beside the stacks, and its lack ends the process. An example
// is the C library's memory for each thread's thread_local objects.
constexpr std::size_t room_left = std::size_t{64} << 20;

bool has_room() {
  void* const room = mmap(nullptr, room_left, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return room != MAP_FAILED && munmap(room, room_left) == 0;
}

}  // namespace

int startable_threads(int wanted, std::size_t stack_bytes) {
  if (address_space_is_limited()) {
    if (!has_room()) return 0;
    wanted = static_cast<int>(std::min<std::size_t>(index(wanted), kept_stacks / stack_bytes));
  }
  std::vector<pthread_t> threads;
  try {
    threads.reserve(index(wanted));
  } catch (const std::bad_alloc&) {
    return 0;
  }
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  // Signals are for the threads that Python knows.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Gate gate(0);
  for (int i = 0; i < wanted; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, wait_at, &gate) != 0) break;
    threads.push_back(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  gate.release(static_cast<std::ptrdiff_t>(threads.size()));
  int count = 0;
  for (const pthread_t thread : threads) {
    void* failed = nullptr;
    count += pthread_join(thread, &failed) == 0 && !failed;
  }
  return count;
}

}  // namespace shardax::runtime
