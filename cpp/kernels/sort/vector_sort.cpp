// kernels/sort/vector_sort.cpp - a quicksort whose partitions and short runs are vectors of AVX2.
//
// Keys are signed integers, of which equal ones are the same; those of floats order their bits.
// Partitions write to other memory, small elements from the left and large ones from the right, so
// that no branch depends on elements. The two halves of the memory swap with each partition.
#include "kernels/sort/vector_sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/index.h"
#include "base/target.h"
#include "kernels/sort/radix_sort.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

#if SHARDAX_X86_64
#include <immintrin.h>

SHARDAX_BEGIN_TARGET("avx2,popcnt")

namespace shardax::kernels {
namespace {

#include "kernels/sort/sorting_network.h"

// The number of keys of a block in registers.
template <class K>
constexpr std::int64_t block_size = 8 * Register<K>::lanes;
// Rows that are worth several threads, and how many parts they are cut into.
constexpr std::int64_t worth_threads = 1 << 16;
constexpr std::size_t most_parts = 16;

// Out may be x.
template <class K, int rows>
[[gnu::noinline]] void sort_block(const K* x, K* out, std::int64_t n) {
  using R = Register<K>;
  Block<K, rows> block;
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    const std::int64_t left = n - i * R::lanes;
    block.v[i] = left >= R::lanes ? R::load(x + i * R::lanes)
                 : left > 0       ? R::load_some(x + i * R::lanes, left)
                                  : R::largest();
  }
  block.sort();
  if (n == rows * R::lanes) return block.store(out);
  alignas(32) K room[rows * R::lanes];
  block.store(room);
  std::int64_t i = 0;
  for (; i + R::lanes <= n; i += R::lanes) R::store(out + i, R::load(room + i));
  for (; i < n; ++i) out[i] = room[i];
}
template <class K>
void sort_short(const K* x, K* out, std::int64_t n) {
  return n <= block_size<K> / 2 ? sort_block<K, 4>(x, out, n) : sort_block<K, 8>(x, out, n);
}

// Writes elements less than the pivot (or, with `equal`, not greater) to the start of `to`, the
// others behind them. Returns the number of the first ones.
template <class K, bool equal>
[[gnu::noinline]] std::int64_t partition(const K* x, K* to, std::int64_t n, K pivot) {
  using R = Register<K>;
  K *low = to, *high = to + n;
  // Elements that fill no vector come first. Both stores of a vector have to fit between low and
  // high; of less than two vectors the second would overwrite the first.
  const std::int64_t rest = n % R::lanes;
  for (std::int64_t i = 0; i < rest; ++i) {
    const bool above = equal ? x[i] > pivot : x[i] >= pivot;
    *low = x[i];
    high[-1] = x[i];
    low += !above;
    high -= above;
  }
  const __m256i all = R::all(pivot);
  x += rest;
  runtime::in_stretches(n - rest, sort_stretch, [&](std::int64_t i, std::int64_t end) {
    K *left = low, *right = high;  // not in memory, which stores of vectors could be to
    const auto place = [&](__m256i v) __attribute__((always_inline)) {
      const unsigned above =
          equal ? R::greater(v, all) : R::greater(all, v) ^ ((1U << R::lanes) - 1);
      const __m256i split = R::split(v, above);
      const int count = __builtin_popcount(above);
      R::store(left, split);
      R::store(right - R::lanes, split);
      left += R::lanes - count;
      right -= count;
    };
    for (; i + 4 * R::lanes <= end; i += 4 * R::lanes) {
      const __m256i v[4] = {R::load(x + i), R::load(x + i + R::lanes),
                            R::load(x + i + 2 * R::lanes), R::load(x + i + 3 * R::lanes)};
#pragma GCC unroll 4
      for (const __m256i& each : v) place(each);
    }
    for (; i < end; i += R::lanes) place(R::load(x + i));
    low = left;
    high = right;
  });
  return low - to;
}

// More than a block's elements: the middle of a few, by which halves differ little.
template <class K>
K choose_pivot(const K* x, std::int64_t n) {
  using R = Register<K>;
  if (n < 2048) {
    __m256i a = R::load(x), b = R::load(x + (n - R::lanes) / 2), c = R::load(x + n - R::lanes);
    R::order(a, b);
    R::order(b, c);
    R::order(a, b);
    Block<K, 1> middles{{b}};
    middles.sort();
    K sorted[R::lanes];
    R::store(sorted, middles.v[0]);
    return sorted[R::lanes / 2];
  }
  constexpr std::int64_t count = block_size<K> / 2;
  K some[count];
  const std::int64_t step = n / count;
  for (std::int64_t i = 0; i < count; ++i) some[i] = x[i * step + step / 2];
  sort_short(some, some, count);
  return some[count / 2];
}

// n elements of x that are to be sorted into x, or with `moved` into `other`, which is free.
template <class K>
struct Run {
  K *x, *other;
  bool moved;
  std::int64_t n;
  int depth;  // partitions that may follow

  // The run in `other` from `from` to `to`.
  Run part(std::int64_t from, std::int64_t to) const {
    return {other + from, x + from, !moved, to - from, depth - 1};
  }
};

// Gives the first of the two runs that are left; `run` becomes the second.
template <class K>
Run<K> cut(Run<K>& run) {
  const K pivot = choose_pivot(run.x, run.n);
  std::int64_t left = partition<K, false>(run.x, run.other, run.n, pivot);
  Run<K> first = run.part(0, left);
  if (left == 0) {  // the pivot is the smallest
    left = partition<K, true>(run.x, run.other, run.n, pivot);
    if (!run.moved) std::fill(run.x, run.x + left, pivot);
  }
  run = run.part(left, run.n);
  return first;
}

template <class K>
void sort_run(Run<K> run) {
  while (run.n > block_size<K>) {
    if (run.depth == 0) {  // pivots that somebody chose
      std::sort(run.x, run.x + run.n);
      if (run.moved) std::copy(run.x, run.x + run.n, run.other);
      return;
    }
    runtime::poll();
    sort_run(cut(run));
  }
  sort_short(run.x, run.moved ? run.other : run.x, run.n);
}

template <class K>
void sort_row(K* keys, K* scratch, std::int64_t n) {
  const int depth = 2 * static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
  std::vector<Run<K>> runs{{keys, scratch, false, n, depth}};
  while (n >= worth_threads && runs.size() < most_parts) {
    const std::size_t count = runs.size();
    runs.resize(2 * count);
    runtime::parallel_for(static_cast<std::int64_t>(count), [&](std::int64_t i) {
      Run<K>& run = runs[index(i)];
      Run<K>& other = runs[index(i) + count];
      other = run.part(0, 0);
      if (run.n > block_size<K>) other = cut(run);
    });
  }
  runtime::parallel_for(static_cast<std::int64_t>(runs.size()),
                        [&](std::int64_t i) { sort_run(runs[index(i)]); });
}

// ---- keys of elements ----------------------------------------------------------------------

// Signed integers in the order of finite floats, and back: numbers below zero count down.
template <class K>
SHARDAX_INLINE K turned(K bits) {
  return bits ^ ((bits >> (8 * sizeof(K) - 1)) & std::numeric_limits<K>::max());
}
template <class T, class K>
SHARDAX_INLINE K signed_key(K bits) {
  if constexpr (std::is_floating_point_v<T>) return turned(bits);
  return std::is_unsigned_v<T> ? bits ^ std::numeric_limits<K>::min() : bits;
}

// Keys of the numbers, those of 0 for -0, and the NaN at the end of `out`. Gives how many keys
// there are.
template <class T, class K>
std::int64_t take_unequal(const K* x, K* keys, K* out, std::int64_t n) {
  using R = Register<K>;
  constexpr K most = std::numeric_limits<K>::max();
  constexpr K infinity = std::bit_cast<K>(std::numeric_limits<T>::infinity());
  for (std::int64_t i = 0; i < n; ++i) {
    const K magnitude = x[i] & most;
    keys[i] = magnitude > infinity ? most : magnitude == 0 ? 0 : turned(x[i]);
  }
  const __m256i largest_number = R::all(infinity);
  std::int64_t i = 0, numbers = 0;
  for (; i + R::lanes <= n; i += R::lanes) {
    const __m256i key = R::load(keys + i);
    const unsigned nan = R::greater(key, largest_number), number = ~nan & ((1U << R::lanes) - 1);
    R::store(out + (i - numbers), R::split(R::load(x + i), number));
    R::store(keys + numbers, R::split(key, nan));
    numbers += __builtin_popcount(number);
  }
  for (; i < n; ++i) {
    const bool number = keys[i] <= infinity;
    if (!number) out[i - numbers] = x[i];
    keys[numbers] = keys[i];
    numbers += number;
  }
  std::memmove(out + numbers, out, index(n - numbers) * sizeof(K));
  return numbers;
}
// Zeros have the signs that they had, in their order.
template <class K>
void give_signs(const K* x, K* out, std::int64_t numbers) {
  K* zero = std::lower_bound(out, out + numbers, K{0}, [](K a, K) { return a < 0; });
  K* const end = std::find_if(zero, out + numbers, [](K a) { return a != 0; });
  for (; zero < end; ++x) {
    *zero = *x;
    zero += (*x & std::numeric_limits<K>::max()) == 0;
  }
}

template <class T>
void sort_elements(const T* elements, T* to, std::int64_t n, void* work) {
  using K = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const K* x = reinterpret_cast<const K*>(elements);
  K *out = reinterpret_cast<K*>(to), *keys = static_cast<K*>(work);
  K special = 0;
  runtime::in_stretches(n, sort_stretch, [&](std::int64_t from, std::int64_t end) {
    for (std::int64_t i = from; i < end; ++i) {
      keys[i] = signed_key<T>(x[i]);
      if constexpr (std::is_floating_point_v<T>) {
        const K magnitude = x[i] & std::numeric_limits<K>::max();
        special |= magnitude > std::bit_cast<K>(std::numeric_limits<T>::infinity());
        special |= x[i] == std::numeric_limits<K>::min();
      }
    }
  });
  std::int64_t numbers = n;
  if constexpr (std::is_floating_point_v<T>) {
    if (special != 0) numbers = take_unequal<T>(x, keys, out, n);
  }
  sort_row(keys, keys + n, numbers);
  runtime::in_stretches(numbers, sort_stretch, [&](std::int64_t from, std::int64_t end) {
    for (std::int64_t i = from; i < end; ++i) out[i] = signed_key<T>(keys[i]);
  });
  if (special != 0) give_signs(x, out, numbers);
}

}  // namespace
}  // namespace shardax::kernels

SHARDAX_END_TARGET
#endif

namespace shardax::kernels {

template <class T>
bool sort_in_vectors([[maybe_unused]] const T* x, [[maybe_unused]] T* out,
                     [[maybe_unused]] std::int64_t n, [[maybe_unused]] void* work) {
#if SHARDAX_X86_64
  static const bool able = SHARDAX_CPU_SUPPORTS("avx2") && SHARDAX_CPU_SUPPORTS("popcnt");
  if (able) sort_elements(x, out, n, work);
  return able;
#else
  return false;
#endif
}

template bool sort_in_vectors(const std::int32_t*, std::int32_t*, std::int64_t, void*);
template bool sort_in_vectors(const std::uint32_t*, std::uint32_t*, std::int64_t, void*);
template bool sort_in_vectors(const float*, float*, std::int64_t, void*);
template bool sort_in_vectors(const std::int64_t*, std::int64_t*, std::int64_t, void*);
template bool sort_in_vectors(const std::uint64_t*, std::uint64_t*, std::int64_t, void*);
template bool sort_in_vectors(const double*, double*, std::int64_t, void*);

}  // namespace shardax::kernels
