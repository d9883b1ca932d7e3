// runtime/team_threads.cpp - plain threads, for builds with ThreadSanitizer.
#ifdef __SANITIZE_THREAD__
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "runtime/team.h"

namespace shardax::runtime {

// The threads of a loop start and end with it: each hand-over is one that the sanitizer sees.
void run_on_team(int threads, std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i; (i = next.fetch_add(1)) < chunks;) body(i);
  };
  std::vector<std::jthread> others;
  for (std::int64_t i = 1; i < std::min<std::int64_t>(threads, chunks); ++i) {
    others.emplace_back(work);
  }
  work();
}

}  // namespace shardax::runtime
#endif
