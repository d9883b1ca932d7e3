// kernels/fft/work.h - memory that Fourier transforms work in, and how much one task does.
#pragma once

#include <algorithm>
#include <vector>

#include "base/index.h"
#include "base/per_thread.h"
#include "kernels/fft/lines.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::kernels::fft_work {

using lanes::Lanes;
using lanes::width;

// Elements of lines that one task transforms: some 50 us.
constexpr std::int64_t task_elements = 16384;
// A line of more elements is many tasks.
constexpr std::int64_t longest_task = 65536;

// Buffers of a thread, for eight lines of up to so many elements.
template <class T>
struct Workspace {
  std::vector<Lanes<T>> a, b, c;
  explicit Workspace(std::int64_t n = 0) : a(index(n)), b(index(n)), c(index(n)) {}
};
template <class T>
Workspace<T>& workspace(std::int64_t n) {
  auto& space = per_thread<Workspace<T>, struct FftWorkspace>();
  if (static_cast<std::int64_t>(space.a.size()) < n) space = Workspace<T>(n);
  return space;
}

// body(first) for each `size` of `count` lines of n elements, in parallel.
template <class F>
void by_groups(std::int64_t count, std::int64_t size, std::int64_t n, F&& body) {
  const std::int64_t groups = (count + size - 1) / size;
  const std::int64_t each = std::max<std::int64_t>(1, task_elements / (n * size));
  const std::int64_t tasks = (groups + each - 1) / each;
  const auto task = [&](std::int64_t t) {
    for (std::int64_t g = t * each; g < std::min(groups, (t + 1) * each); ++g) {
      runtime::poll();
      body(g * size);
    }
  };
  if (tasks == 1 || n > longest_task) {  // so that a body can be many tasks
    for (std::int64_t t = 0; t < tasks; ++t) task(t);
    return;
  }
  runtime::parallel_for(tasks, task);
}

// Lines of n elements, in parallel: eight(first, count) for lines that go together, alone(line) for
// few lines. A line alone fills the lanes by itself, and a few take no longer so.
enum class Road : std::uint8_t { alone, either, together };
// Eight lines of n elements go together while they stay in a core's cache.
template <class T>
Road road_of(std::int64_t n) {
  constexpr std::int64_t cached_bytes = 256 * 1024;
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(Lanes<T>));
  return bytes <= cached_bytes ? Road::either : Road::alone;
}
template <class Alone, class Eight>
void over_lines(std::int64_t lines, std::int64_t n, Road road, Alone&& alone, Eight&& eight) {
  const std::int64_t size = road == Road::alone ? 1 : width;
  by_groups(lines, size, n, [&](std::int64_t first) {
    const std::int64_t count = std::min(size, lines - first);
    if (road == Road::together || count > width / 2) return eight(first, count);
    for (std::int64_t i = first; i < first + count; ++i) alone(i);
  });
}

// The starts of eight lines from the first on (the last one again if there are fewer). True if each
// begins behind the one before.
template <class E, class F>
bool starts(E** out, std::int64_t first, std::int64_t count, F&& start) {
  bool adjacent = true;
  for (std::int64_t l = 0; l < width; ++l) {
    out[l] = start(first + std::min(l, count - 1));
    adjacent &= out[l] == out[0] + l;
  }
  return adjacent;
}

}  // namespace shardax::kernels::fft_work
