// runtime/team_tbb.cpp - oneTBB and its arena.
#ifndef __SANITIZE_THREAD__
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <mutex>
#include <optional>

#include "runtime/team.h"

namespace shardax::runtime {
namespace {

// Callers that find a place in the arena beside its workers; more of them wait for one.
constexpr int most_callers = 16;

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
std::shared_ptr<Workers> workers(int count) {
  static std::mutex& mutex = *new std::mutex;
  static std::shared_ptr<Workers>& current = *new std::shared_ptr<Workers>;
  const std::lock_guard lock(mutex);
  if (!current || current->count != count) current = std::make_shared<Workers>(count);
  return current;
}

}  // namespace

void run_on_team(int threads, std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  const std::shared_ptr<Workers> team = workers(threads);
  team->arena.execute([&] {
    // While it waits for its last chunks, a caller does not take up those of another loop.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          std::int64_t{0}, chunks, [&](std::int64_t i) { body(i); }, tbb::simple_partitioner());
    });
  });
}

}  // namespace shardax::runtime
#endif
