// runtime/pool.cpp - oneTBB, its arena, and what becomes of it after fork.
#include "runtime/pool.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>

namespace shardax::runtime {
namespace {

std::atomic<bool> forked{false};
std::atomic<int> wanted{0};  // 0: not known yet
thread_local bool inside_loop = false;

// The CPU time a cgroup grants, in cores; 0 where there is no limit.
int quota_cores() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max" && period > 0) {
    return static_cast<int>((std::stod(quota) + period - 1) / period);
  }
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double allowed = 0;
  if (v1_quota >> allowed && v1_period >> period && allowed > 0 && period > 0) {
    return static_cast<int>((allowed + period - 1) / period);
  }
  return 0;
}

int usable_cores() {
  if (const char* text = std::getenv("SHARDAX_NUM_THREADS")) {
    if (const int given = std::atoi(text); given > 0) return given;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  if (const int quota = quota_cores(); quota > 0) cores = std::min(cores, quota);
  return std::max(cores, 1);
}

// The arena of the current thread count; loops in progress keep the one they started in.
std::shared_ptr<tbb::task_arena> arena() {
  static std::mutex& mutex = *new std::mutex;
  static std::shared_ptr<tbb::task_arena>& current = *new std::shared_ptr<tbb::task_arena>;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
  (void)registered;
  const std::lock_guard lock(mutex);
  const int count = thread_count();
  if (!current || current->max_concurrency() != count) current = std::make_shared<tbb::task_arena>(count);
  return current;
}

void run_inline(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  for (std::int64_t i = 0; i < chunks; ++i) body(i);
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

}  // namespace

int thread_count() {
  int count = wanted.load(std::memory_order_relaxed);
  if (count == 0) {
    count = usable_cores();
    wanted.store(count, std::memory_order_relaxed);
  }
  return count;
}

void set_thread_count(int count) { wanted.store(std::max(count, 1)); }

void parallel_for(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  if (chunks <= 1 || inside_loop || forked.load(std::memory_order_relaxed) || thread_count() == 1) {
    return run_inline(chunks, body);
  }
  arena()->execute([&] {
    tbb::parallel_for(
        std::int64_t{0}, chunks,
        [&](std::int64_t i) {
          const LoopMark mark;
          body(i);
        },
        tbb::simple_partitioner());
  });
}

}  // namespace shardax::runtime
