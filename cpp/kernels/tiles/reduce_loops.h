// kernels/tiles/reduce_loops.h - reductions over tiles, vectorised over a fixed number of lanes.
//
// A reduction is a struct R with R::combine(a, b), associative, and R::identity<T>(). If vectors of
// numbers combine, R::join(a, b) changes a. If a long row of n elements has a faster way, it is
// R::row(x, n). Its loops: reduce_kernels<R, T>().
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/tiles/dispatch.h"
#include "kernels/tiles/reduce.h"
#include "kernels/tiles/short_rows.h"

namespace shardax::kernels {

template <class R, class T, class Acc>
void reduce_init(void* acc, std::int64_t n) {
  auto* a = static_cast<Acc*>(acc);
  for (std::int64_t i = 0; i < n; ++i) a[i] = static_cast<Acc>(R::template identity<T>());
}

template <class R, class T>
concept HasRow = requires(const T* x, std::int64_t n) { R::row(x, n); };

template <class T, int n>
struct LanesOf {
  typedef T type __attribute__((vector_size(n * sizeof(T))));
};
template <class R, class T>
concept HasJoin = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                  requires(typename LanesOf<T, 4>::type& a) { R::join(a, a); };
template <class R, class T>
concept HasShortRows = HasJoin<R, T> && std::is_floating_point_v<T>;

// Lanes from `first` on.
template <int first, class Half, class V, int... l>
[[gnu::always_inline]] inline void lanes_from(Half& out, const V& x,
                                              std::integer_sequence<int, l...>) {
  shuffle<(first + l)...>(out, x, x);
}

// Lane l and lane l + n / 2, and so on.
template <class R, class T, int n>
[[gnu::always_inline]] inline T reduce_tree(const typename LanesOf<T, n>::type& x) {
  if constexpr (n == 2) {
    return R::combine(x[0], x[1]);
  } else {
    typename LanesOf<T, n / 2>::type low, high;
    lanes_from<0>(low, x, std::make_integer_sequence<int, n / 2>());
    lanes_from<n / 2>(high, x, std::make_integer_sequence<int, n / 2>());
    R::join(low, high);
    return reduce_tree<R, T, n / 2>(low);
  }
}

// In vectors, which the compiler would not find. Elements that do not fill the lanes are added up
// beside them.
template <class R, int lanes, class T>
  requires HasJoin<R, T>
[[gnu::always_inline]] inline T reduce_lanes(const T* x, std::int64_t n) {
  constexpr int width = 32 / sizeof(T), vectors = lanes / width;
  using V = typename LanesOf<T, width>::type;
  // One by one: a copy as a whole goes through memory, which vectors wait for.
  V part[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) std::memcpy(&part[v], x + v * width, sizeof part[v]);
  std::int64_t i = lanes;
  for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      V more;
      std::memcpy(&more, x + i + v * width, sizeof more);
      R::join(part[v], more);
    }
  }
  T rest = R::template identity<T>();
  for (; i < n; ++i) rest = R::combine(rest, x[i]);
#pragma GCC unroll 4
  for (int count = vectors / 2; count > 0; count /= 2) {
    for (int v = 0; v < count; ++v) R::join(part[v], part[v + count]);
  }
  return R::combine(reduce_tree<R, T, width>(part[0]), rest);
}

// Lanes, then a fixed tree over them, for any instruction set.
template <class R, int lanes, class T>
[[gnu::always_inline]] inline T reduce_lanes(const T* x, std::int64_t n) {
  T part[lanes];
  for (int l = 0; l < lanes; ++l) part[l] = x[l];
  std::int64_t i = lanes;
  for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 32
    for (int l = 0; l < lanes; ++l) part[l] = R::combine(part[l], x[i + l]);
  }
  for (int l = 0; i < n; ++i, ++l) part[l] = R::combine(part[l], x[i]);
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int l = 0; l < width; ++l) part[l] = R::combine(part[l], part[l + width]);
  }
  return part[0];
}

template <class R, class T>
[[gnu::always_inline]] inline T reduce_row(const T* x, std::int64_t n) {
  if constexpr (HasShortRows<R, T>) {
    return n < short_row ? combine_row<R>(x, n) : reduce_lanes<R, 32>(x, n);
  } else if (n < (HasJoin<R, T> ? 32 : 16)) {
    T total = R::template identity<T>();
    for (std::int64_t i = 0; i < n; ++i) total = R::combine(total, x[i]);
    return total;
  } else if constexpr (HasJoin<R, T>) {
    return reduce_lanes<R, 32>(x, n);
  } else {
    // As many chains as hide the time that an addition takes.
    return n < 128 ? reduce_lanes<R, 16>(x, n) : reduce_lanes<R, 32>(x, n);
  }
}

template <class R, class T, class Acc>
void reduce_fold(void* acc, const void* in, std::int64_t n, std::int64_t rows) {
  dispatch_256([=] {
    auto* a = static_cast<Acc*>(acc);
    const T* x = static_cast<const T*>(in);
    if constexpr (HasShortRows<R, T>) {
      if (rows > 1 && n > 0 && n < short_row) return fold_short_rows<R>(a, x, n, rows);
    }
    for (std::int64_t r = 0; r < rows; ++r, x += n) {
      if constexpr (HasRow<R, T>) {
        a[r] = R::combine(a[r], static_cast<Acc>(R::row(x, n)));
      } else {
        for (std::int64_t i = 0; i < n; i += fold_block)
          a[r] = R::combine(a[r],
                            static_cast<Acc>(reduce_row<R, T>(x + i, std::min(fold_block, n - i))));
      }
    }
  });
}

// Several rows at a time: accumulators are read and written once for them.
template <class R, class T, class Acc>
void reduce_zip(void* acc, const void* in, std::int64_t n, std::int64_t rows, std::int64_t stride) {
  dispatch([=]() mutable {
    auto* a = static_cast<Acc*>(acc);
    const T* x = static_cast<const T*>(in);
    for (; rows >= 8; rows -= 8, x += 8 * stride) {
      const T *x0 = x, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride, *x4 = x3 + stride,
              *x5 = x4 + stride, *x6 = x5 + stride, *x7 = x6 + stride;
      SHARDAX_IVDEP
      for (std::int64_t i = 0; i < n; ++i) {
        Acc sum = R::combine(a[i], static_cast<Acc>(x0[i]));
        sum = R::combine(sum, static_cast<Acc>(x1[i]));
        sum = R::combine(sum, static_cast<Acc>(x2[i]));
        sum = R::combine(sum, static_cast<Acc>(x3[i]));
        sum = R::combine(sum, static_cast<Acc>(x4[i]));
        sum = R::combine(sum, static_cast<Acc>(x5[i]));
        sum = R::combine(sum, static_cast<Acc>(x6[i]));
        a[i] = R::combine(sum, static_cast<Acc>(x7[i]));
      }
    }
    for (; rows > 0; --rows, x += stride) {
      SHARDAX_IVDEP
      for (std::int64_t i = 0; i < n; ++i) a[i] = R::combine(a[i], static_cast<Acc>(x[i]));
    }
  });
}

template <class R, class Acc>
void reduce_merge(void* acc, const void* other, std::int64_t n) {
  reduce_zip<R, Acc, Acc>(acc, other, n, 1, 0);
}

template <class T, class Acc>
void reduce_finish(void* out, std::int64_t stride, const void* acc, std::int64_t n) {
  auto* o = static_cast<T*>(out);
  const auto* a = static_cast<const Acc*>(acc);
  for (std::int64_t i = 0; i < n; ++i) o[i * stride] = static_cast<T>(a[i]);
}

// Elements of type T; those of different tiles meet in accumulators of type Acc.
template <class R, class T, class Acc = T>
ReduceKernels reduce_kernels() {
  return {dtype_of<Acc>,         reduce_init<R, T, Acc>, reduce_fold<R, T, Acc>,
          reduce_zip<R, T, Acc>, reduce_merge<R, Acc>,   reduce_finish<T, Acc>};
}

}  // namespace shardax::kernels
