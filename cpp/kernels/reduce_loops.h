// kernels/reduce_loops.h - reductions over tiles, vectorised over a fixed number of lanes.
//
// A reduction is a struct R with R::combine(a, b), associative, R::identity<T>(), and, where a row
// of n > 0 elements has a faster way, R::row(x, n). Its loops: reduce_kernels<R, T>().
#pragma once

#include <type_traits>

#include "kernels/dispatch.h"
#include "kernels/reduce.h"

namespace shardax::kernels {

template <class R, class T, class Acc>
void reduce_init(void* acc, std::int64_t n) {
  auto* a = static_cast<Acc*>(acc);
  for (std::int64_t i = 0; i < n; ++i) a[i] = static_cast<Acc>(R::template identity<T>());
}

template <class R, class T>
concept HasRow = requires(const T* x, std::int64_t n) {
  R::row(x, n);
};

// Lanes, then a fixed tree over them, whatever the instruction set.
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
  if constexpr (HasRow<R, T>) {
    return R::row(x, n);
  } else if (n < 16) {
    T total = R::template identity<T>();
    for (std::int64_t i = 0; i < n; ++i) total = R::combine(total, x[i]);
    return total;
  } else {
    // As many chains as hide the time that an addition takes.
    return n < 128 ? reduce_lanes<R, 16>(x, n) : reduce_lanes<R, 32>(x, n);
  }
}

template <class R, class T, class Acc>
SHARDAX_CLONES void reduce_fold(void* acc, const void* in, std::int64_t n, std::int64_t rows) {
  auto* a = static_cast<Acc*>(acc);
  const T* x = static_cast<const T*>(in);
  for (std::int64_t r = 0; r < rows; ++r, x += n)
    a[r] = R::combine(a[r], static_cast<Acc>(reduce_row<R, T>(x, n)));
}

template <class R, class T, class Acc>
SHARDAX_CLONES void reduce_zip(void* acc, const void* in, std::int64_t n) {
  auto* a = static_cast<Acc*>(acc);
  const T* x = static_cast<const T*>(in);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) a[i] = R::combine(a[i], static_cast<Acc>(x[i]));
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
  return {dtype_of<Acc>,         reduce_init<R, T, Acc>,  reduce_fold<R, T, Acc>,
          reduce_zip<R, T, Acc>, reduce_zip<R, Acc, Acc>, reduce_finish<T, Acc>};
}

}  // namespace shardax::kernels
