// runtime/pool.cpp - when a loop goes to the team of threads, and what becomes of it after fork.
#include "runtime/pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "base/thread_end.h"
#include "runtime/cores.h"
#include "runtime/interrupt.h"
#include "runtime/team.h"

namespace shardax::runtime {
namespace {

constinit std::atomic<int> wanted{0};  // 0: not known yet
constinit thread_local bool inside_loop = false;

// A child has no threads of the team, but its locks and counts as they were: it runs inline.
constinit std::atomic<bool> started{false};
constinit std::atomic<bool> inherited{false};
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { inherited.store(started.load()); });

// One loop that a team runs, and the first exception of its chunks.
struct Loop {
  std::atomic<bool> ended{false};
  std::mutex mutex;
  std::exception_ptr first;

  void fail() {
    const std::lock_guard lock(mutex);
    if (!first) first = std::current_exception();
    ended.store(true);
  }
};

// While a thread runs a chunk.
class LoopMark {
 public:
  explicit LoopMark(const Loop& loop) : outer_(inside_loop), outer_ended_(loop_ended) {
    inside_loop = true;
    loop_ended = &loop.ended;
  }
  ~LoopMark() {
    inside_loop = outer_;
    loop_ended = outer_ended_;
  }
  LoopMark(const LoopMark&) = delete;
  LoopMark& operator=(const LoopMark&) = delete;

 private:
  bool outer_;
  const std::atomic<bool>* outer_ended_;
};

int initial_thread_count() {
  if (const char* text = std::getenv("SHARDAX_NUM_THREADS")) {
    if (const int given = std::atoi(text); given > 0) return given;
  }
  return usable_cores();
}

}  // namespace

int thread_count() {
  int count = wanted.load(std::memory_order_relaxed);
  if (count == 0) {
    int expected = 0;
    count = initial_thread_count();
    if (!wanted.compare_exchange_strong(expected, count)) count = expected;
  }
  return count;
}

void set_thread_count(int count) { wanted.store(std::max(count, 1)); }

void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  if (chunks <= 1 || inside_loop || inherited.load(std::memory_order_relaxed) ||
      thread_count() == 1) {
    for (std::int64_t i = 0; i < chunks; ++i) {
      chunks > 1 ? poll_clock() : poll();
      body(i);
    }
    return;
  }
  started.store(true, std::memory_order_relaxed);
  Loop loop;
  run_on_team(thread_count(), chunks, [&](std::int64_t i) {
    if (loop.ended.load(std::memory_order_relaxed)) return;
    const LoopMark mark(loop);
    try {
      poll_clock();
      body(i);
    } catch (const abi::__forced_unwind&) {
      sleep_until_exit();
    } catch (...) {
      loop.fail();
    }
  });
  if (loop.first) std::rethrow_exception(loop.first);
}

}  // namespace shardax::runtime
