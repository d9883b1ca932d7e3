// kernels/fft_work.h - memory that Fourier transforms work in, and how much one task does.
#pragma once

#include <vector>

#include "kernels/fft_lines.h"

namespace shardax::kernels::fft_work {

using lanes::Lanes;

// Elements of lines that one task transforms: some 50 us.
constexpr std::int64_t task_elements = 16384;

// Two buffers of a thread, for lines of up to so many elements.
template <class T>
struct Workspace {
  std::vector<Lanes<T>> a, b;
  explicit Workspace(std::int64_t n)
      : a(static_cast<std::size_t>(n)), b(static_cast<std::size_t>(n)) {}
};
template <class T>
Workspace<T>& workspace(std::int64_t n) {
  thread_local Workspace<T> space(0);
  if (static_cast<std::int64_t>(space.a.size()) < n) space = Workspace<T>(n);
  return space;
}

}  // namespace shardax::kernels::fft_work
