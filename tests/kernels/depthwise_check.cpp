// tests/kernels/depthwise_check.cpp - depthwise convolutions and the gradients of their kernels
// against plain loops, bit by bit, by each instruction set.
//
// Built and run by test_matmul_kernel.py. Prints what differs; the exit status says whether any
// does.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/gemm/kernels.h"
#include "runtime/pool.h"

using namespace shardax;
using namespace shardax::kernels;

int shardax::runtime::thread_count() { return 1; }  // in place of the pool's

namespace {

int failures = 0;
std::uint64_t state = 1;
std::uint64_t random_bits() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}
std::int64_t below(std::int64_t n) {
  return static_cast<std::int64_t>(random_bits() % static_cast<std::uint64_t>(n));
}
template <class T>
T uniform() {
  return static_cast<T>(static_cast<double>(random_bits()) / static_cast<double>(1u << 30) - 1.0);
}
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Values, and no numbers around them, which nothing may use.
template <class T>
struct Padded {
  explicit Padded(std::int64_t n)
      : size(n), all(at(n + 2 * depthwise_chains<T>), std::numeric_limits<T>::quiet_NaN()) {}
  T* data() { return all.data() + depthwise_chains<T>; }
  void fill() {
    for (std::int64_t i = 0; i < size; ++i) data()[i] = uniform<T>();
  }
  std::int64_t size;
  std::vector<T> all;
};

template <class T>
void compare(const char* what, Isa isa, const Padded<T>& got, const Padded<T>& expected,
             std::int64_t rows, std::int64_t columns, std::int64_t lanes, std::int64_t taps) {
  for (std::size_t i = 0; i < got.all.size(); ++i) {
    if (std::memcmp(&got.all[i], &expected.all[i], sizeof(T)) == 0) continue;
    if (++failures < 20) {
      std::printf(
          "%s, instruction set %d, %zu bytes: %ld x %ld x %ld, %ld taps: element %ld is %g, "
          "not %g\n",
          what, int(isa), sizeof(T), long(rows), long(columns), long(lanes), long(taps),
          long(i) - long(depthwise_chains<T>), double(got.all[i]), double(expected.all[i]));
    }
    return;
  }
}

// Rows of columns of lanes, a few places apart or none.
struct Places {
  Places(std::int64_t rows, std::int64_t columns, std::int64_t lanes, std::int64_t apart)
      : column(lanes + (lanes > 1 ? apart : 0)), row(columns * column + apart), size(rows * row) {}
  std::int64_t column, row, size;
};

template <class T>
void check_outputs(Isa isa, bool along_lanes, std::int64_t rows, std::int64_t columns,
                   std::int64_t lanes, std::int64_t taps) {
  const Places in_at(rows, columns, lanes, below(4)), out_at(rows, columns, lanes, below(2) * 3);
  std::vector<std::int64_t> offsets, weights_at;
  for (std::int64_t k = 0; k < taps; ++k) {
    offsets.push_back(below(3 * in_at.row));
    weights_at.push_back(k * lanes);
  }
  Padded<T> in(in_at.size + 3 * in_at.row), weights(taps * lanes), out(out_at.size);
  in.fill(), weights.fill();
  Padded<T> expected = out;
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) {
      for (std::int64_t l = 0; l < lanes; ++l) {
        T sum = 0;
        for (std::int64_t k = 0; k < taps; ++k) {
          const T value = in.data()[offsets[at(k)] + y * in_at.row + x * in_at.column + l];
          sum = std::fma(value, weights.data()[k * lanes + l], sum);
        }
        expected.data()[y * out_at.row + x * out_at.column + l] = sum;
      }
    }
  }
  const DepthwiseKernels<T>& kernels = float_kernels<T>(isa).depthwise;
  (along_lanes ? kernels.lanes : kernels.planes)(
      {rows, columns, lanes, taps, in.data(), in_at.row, in_at.column, offsets.data(),
       weights.data(), weights_at.data(), out.data(), out_at.row, out_at.column});
  compare(along_lanes ? "lanes" : "planes", isa, out, expected, rows, columns, lanes, taps);
}

template <class T>
void check_sums(Isa isa, bool along_lanes, std::int64_t rows, std::int64_t columns,
                std::int64_t lanes, std::int64_t taps) {
  const std::int64_t chains = depthwise_chains<T>, width = along_lanes ? lanes : chains;
  const Places in_at(rows, columns, lanes, below(4)), image_at(rows, columns, lanes, below(2) * 3);
  std::vector<std::int64_t> offsets, sums_at;
  for (std::int64_t k = 0; k < taps; ++k) {
    offsets.push_back(below(3 * in_at.row));
    sums_at.push_back((taps - 1 - k) * width);
  }
  Padded<T> in(in_at.size + 3 * in_at.row), image(image_at.size), sums(taps * width);
  in.fill(), image.fill(), sums.fill();
  // Places between the rows of the image are not its own.
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t i = columns * image_at.column; i < image_at.row; ++i)
      image.data()[y * image_at.row + i] = std::numeric_limits<T>::infinity();
  }
  Padded<T> expected = sums;
  for (std::int64_t k = 0; k < taps; ++k) {
    std::vector<T> own(at(width));
    for (std::int64_t y = 0; y < rows; ++y) {
      for (std::int64_t x = 0; x < columns; ++x) {
        for (std::int64_t l = 0; l < lanes; ++l) {
          T& sum = own[at(along_lanes ? l : x % chains)];
          sum = std::fma(in.data()[offsets[at(k)] + y * in_at.row + x * in_at.column + l],
                         image.data()[y * image_at.row + x * image_at.column + l], sum);
        }
      }
    }
    for (std::int64_t i = 0; i < width; ++i) expected.data()[sums_at[at(k)] + i] += own[at(i)];
  }
  const DepthwiseKernels<T>& kernels = float_kernels<T>(isa).depthwise;
  (along_lanes ? kernels.sums_of_lanes : kernels.sums_of_planes)(
      {rows, columns, lanes, taps, in.data(), in_at.row, in_at.column, offsets.data(), image.data(),
       image_at.row, image_at.column, sums.data(), sums_at.data()});
  compare(along_lanes ? "sums of lanes" : "sums of planes", isa, sums, expected, rows, columns,
          lanes, taps);
}

template <class T>
void check(Isa isa) {
  for (std::int64_t n = 1; n < 70; ++n) {
    for (const std::int64_t rows : {1, 2, 3, 7, 8, 11}) {
      for (const std::int64_t taps : {0, 1, 4, 9, 25}) {
        check_outputs<T>(isa, false, rows, n, 1, taps);
        check_sums<T>(isa, false, rows, n, 1, taps);
        check_outputs<T>(isa, true, 2, rows, n, taps);
        check_sums<T>(isa, true, 2, rows, n, taps);
      }
    }
  }
  check_sums<T>(isa, false, depthwise_most_rows, 5, 1, depthwise_most_taps);
  check_sums<T>(isa, true, 3, 5, 13, depthwise_most_taps);
}

}  // namespace

int main() {
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_intel}) {
    if (isa > best_isa()) continue;
    check<float>(isa);
    check<double>(isa);
  }
  std::printf("%d failures\n", failures);
  return failures != 0;
}
