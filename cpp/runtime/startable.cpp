// runtime/startable.cpp - starts threads that wait for each other.
#include "runtime/startable.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <semaphore>
#include <vector>

namespace shardax::runtime {
namespace {

using Gate = std::counting_semaphore<>;

void* wait_at(void* gate) {
  static_cast<Gate*>(gate)->acquire();
  return nullptr;
}

// glibc keeps up to 40 MB of the stacks of threads that have ended for the next ones.
constexpr std::size_t kept_stacks = std::size_t{32} << 20;

bool address_space_is_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

int startable_threads(int wanted, std::size_t stack_bytes) {
  if (address_space_is_limited()) {
    wanted = static_cast<int>(
        std::min<std::size_t>(static_cast<std::size_t>(wanted), kept_stacks / stack_bytes));
  }
  std::vector<pthread_t> threads;
  try {
    threads.reserve(static_cast<std::size_t>(wanted));
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
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return static_cast<int>(threads.size());
}

}  // namespace shardax::runtime
