// tests/kernels/winograd_check.cpp - the maps of minimal filtering against their matrices, and the
// same bits from each instruction set.
//
// Built and run by test_matmul_kernel.py. Prints what differs; the exit status says whether any
// does.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/gemm/kernels.h"
#include "runtime/pool.h"

using namespace shardax;
using namespace shardax::kernels;

int shardax::runtime::thread_count() { return 1; }  // in place of the pool's

namespace {

int failures = 0;
std::uint64_t state = 1;
double uniform() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 33) / static_cast<double>(1u << 30) - 1.0;
}

// Rows of the matrix of a line.
struct Matrix {
  const char* name;
  int rows, columns;
  double at[4][4];
};
const Matrix matrices[] = {
    {"from operand", 4, 4, {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}},
    {"from kernel", 4, 3, {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}},
    {"to result", 2, 4, {{1, 1, 1, 0}, {0, 1, -1, -1}}},
    {"from cotangent", 4, 2, {{1, 0}, {1, 1}, {1, -1}, {0, -1}}},
    {"to kernel", 3, 4, {{1, .5, .5, 0}, {0, .5, -.5, 0}, {0, .5, .5, 1}}},
};

template <class T>
SquareMap<T> map_of(Isa isa, int which) {
  const WinogradMaps<T>& maps = float_kernels<T>(isa).winograd;
  const SquareMap<T> all[] = {maps.from_operand, maps.from_kernel, maps.to_result,
                              maps.from_cotangent, maps.to_kernel};
  return all[which];
}

template <class T>
void check(int which, std::int64_t n) {
  const Matrix& m = matrices[which];
  const int from = m.columns * m.columns, to = m.rows * m.rows;
  const auto row = static_cast<std::size_t>(n) + 1;
  std::vector<T> in(row * static_cast<std::size_t>(from));
  for (T& x : in) x = static_cast<T>(uniform());
  const auto run = [&](Isa isa) {
    std::vector<T> out(row * static_cast<std::size_t>(to), T(77));
    const T* sources[16];
    T* targets[16];
    for (int i = 0; i < from; ++i) sources[i] = in.data() + static_cast<std::size_t>(i) * row;
    for (int i = 0; i < to; ++i) targets[i] = out.data() + static_cast<std::size_t>(i) * row;
    map_of<T>(isa, which)(sources, targets, n);
    return out;
  };
  const std::vector<T> out = run(Isa::baseline);
  for (std::size_t c = 0; c < row; ++c) {
    for (int i = 0; i < to; ++i) {
      double sum = 0;
      for (int y = 0; y < m.columns; ++y) {
        for (int x = 0; x < m.columns; ++x) {
          const auto element = static_cast<std::size_t>(y * m.columns + x) * row + c;
          sum += m.at[i / m.rows][y] * m.at[i % m.rows][x] * static_cast<double>(in[element]);
        }
      }
      const double got = static_cast<double>(out[static_cast<std::size_t>(i) * row + c]);
      const bool right =
          c + 1 == row ? got == 77 : std::abs(got - sum) < 16 * (sizeof(T) == 4 ? 6e-8 : 2e-16);
      if (!right && ++failures < 20) {
        std::printf("%s: element %d of channel %zu of %ld: %g instead of %g\n", m.name, i, c,
                    long(n), got, sum);
      }
    }
  }
  for (Isa isa : {Isa::avx2, Isa::avx512, Isa::avx512_intel}) {
    if (isa > best_isa()) continue;
    const std::vector<T> other = run(isa);
    if (std::memcmp(out.data(), other.data(), out.size() * sizeof(T)) != 0 && ++failures < 20)
      std::printf("%s: instruction set %d has other bits, %ld channels\n", m.name, int(isa),
                  long(n));
  }
}

}  // namespace

int main() {
  for (int which = 0; which < 5; ++which) {
    for (std::int64_t n = 1; n < 70; ++n) check<float>(which, n), check<double>(which, n);
  }
  std::printf("%d failures\n", failures);
  return failures != 0;
}
