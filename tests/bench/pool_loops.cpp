// tests/bench/pool_loops.cpp - microseconds of parallel loops (runtime/pool.h), as a Markdown
// table.
//
//     g++ -std=c++20 -O2 -Icpp -I"$PREFIX/include" tests/bench/pool_loops.cpp
//         cpp/runtime/{pool,startable,cores,interrupt}.cpp -L"$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib"
//         -ltbb -o pool_loops && ./pool_loops [THREADS]
//
// PREFIX is a virtual environment with `pip install tbb-devel`. `ideal` is the work of the chunks
// over the threads. `chrt -r 20` before the last command keeps other processes away.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/pool.h"

namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;

void work(double micros) {
  if (micros <= 0) return;
  const auto end = Clock::now() + Micros(micros);
  while (Clock::now() < end) {
  }
}

enum class Before { nothing, work, sleep };

struct Row {
  const char* name;
  std::int64_t chunks;
  double chunk;  // microseconds
  Before before;
  double pause;  // microseconds
  int repeats;
};

constexpr Row rows[] = {
    {"2 empty chunks", 2, 0, Before::nothing, 0, 100'000},
    {"64 empty chunks", 64, 0, Before::nothing, 0, 50'000},
    {"2 of 20 us", 2, 20, Before::nothing, 0, 5'000},
    {"2 of 20 us after 50 us of other work", 2, 20, Before::work, 50, 5'000},
    {"64 of 2 us", 64, 2, Before::nothing, 0, 5'000},
    {"2 of 200 us after 2 ms of other work", 2, 200, Before::work, 2000, 500},
    {"20 of 20 us after 2 ms of other work", 20, 20, Before::work, 2000, 500},
    {"2 of 200 us after 2 ms of sleep", 2, 200, Before::sleep, 2000, 500},
    {"20 of 20 us after 2 ms of sleep", 20, 20, Before::sleep, 2000, 500},
};

void measure(const Row& row) {
  std::vector<double> times;
  for (int r = 0; r < row.repeats; ++r) {
    if (row.before == Before::work) work(row.pause);
    if (row.before == Before::sleep) usleep(static_cast<useconds_t>(row.pause));
    const auto start = Clock::now();
    shardax::runtime::parallel_for(row.chunks, [&](std::int64_t) { work(row.chunk); });
    times.push_back(Micros(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  const double ideal = static_cast<double>(row.chunks) * row.chunk /
                       std::min<double>(shardax::runtime::thread_count(), row.chunks);
  std::printf("| %s | %.1f | %.2f | %.2f |\n", row.name, ideal, times[times.size() / 2],
              times[times.size() * 95 / 100]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) shardax::runtime::set_thread_count(std::atoi(argv[1]));
  for (int i = 0; i < 200; ++i) shardax::runtime::parallel_for(2, [](std::int64_t) { work(5); });
  std::printf("| loop, %d threads | ideal | median | 95 %% |\n| --- | ---: | ---: | ---: |\n",
              shardax::runtime::thread_count());
  for (const Row& row : rows) measure(row);
}
