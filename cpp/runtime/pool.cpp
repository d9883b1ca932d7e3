// runtime/pool.cpp - oneTBB, its arena, and what becomes of it after fork.
#include "runtime/pool.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/cores.h"
#include "runtime/interrupt.h"

namespace shardax::runtime {
namespace {

// Callers that find a place in the arena beside its workers; more of them wait for one.
constexpr int most_callers = 16;

constinit std::atomic<int> wanted{0};  // 0: not known yet
constinit thread_local bool inside_loop = false;

// A child has no threads of oneTBB, but its locks and counts as they were: it runs inline.
constinit std::atomic<bool> started{false};
constinit std::atomic<bool> inherited{false};
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { inherited.store(started.load()); });

struct Workers {
  explicit Workers(int threads)
      : count(threads), arena(threads - 1 + most_callers, static_cast<unsigned>(most_callers)) {
    // More threads than cores have to be allowed.
    if (threads > tbb::info::default_concurrency()) {
      permission.emplace(tbb::global_control::max_allowed_parallelism,
                         static_cast<std::size_t>(threads));
    }
  }

  int count;
  std::optional<tbb::global_control> permission;
  tbb::task_arena arena;
};

// Those of the current thread count; loops in progress keep the ones they started with. The last
// are never destroyed: at exit and in a child oneTBB is not to be touched.
std::shared_ptr<Workers> workers() {
  static std::mutex& mutex = *new std::mutex;
  static std::shared_ptr<Workers>& current = *new std::shared_ptr<Workers>;
  const int count = thread_count();
  const std::lock_guard lock(mutex);
  if (!current || current->count != count) current = std::make_shared<Workers>(count);
  return current;
}

class LoopMark {
 public:
  LoopMark() : outer_(inside_loop) { inside_loop = true; }
  ~LoopMark() { inside_loop = outer_; }
  LoopMark(const LoopMark&) = delete;
  LoopMark& operator=(const LoopMark&) = delete;

 private:
  bool outer_;
};

// oneTBB is not compiled with ThreadSanitizer: says that what happens before `publish` of an object
// is seen after `observe` of it. Nothing elsewhere.
#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_release(void* object);
extern "C" void __tsan_acquire(void* object);
void publish(void* object) { __tsan_release(object); }
void observe(void* object) { __tsan_acquire(object); }
#else
void publish(void*) {}
void observe(void*) {}
#endif

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
      poll_clock();
      body(i);
    }
    return;
  }
  started.store(true, std::memory_order_relaxed);
  const std::shared_ptr<Workers> team = workers();
  publish(&body);
  team->arena.execute([&] {
    // While it waits for its last chunks, a caller does not take up those of another loop.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          std::int64_t{0}, chunks,
          [&](std::int64_t i) {
            observe(&body);
            const LoopMark mark;
            poll_clock();
            body(i);
            publish(&body);
          },
          tbb::simple_partitioner());
    });
  });
  observe(&body);
}

}  // namespace shardax::runtime
