// kernels/tiles/extremum.h - the larger or the smaller of two numbers, or of many.
//
// NaN in any of them gives NaN; complex numbers compare by their real, then by their imaginary
// parts.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "codegen/vector/lane.h"

namespace shardax::kernels {

template <bool greater, class T>
[[gnu::always_inline]] constexpr T extremum(T a, T b) {
  using N = codegen::number_of<T>;
  using codegen::select;
  if constexpr (!std::is_arithmetic_v<N>) {
    const bool first = a.real() != b.real()
                           ? (greater ? a.real() > b.real() : a.real() < b.real())
                           : (greater ? a.imag() >= b.imag() : a.imag() <= b.imag());
    return first ? a : b;
  } else {
    const T picked = select(greater ? a > b : a < b, a, b);
    if constexpr (std::is_floating_point_v<N>)
      return select(a != a, a, picked);
    else
      return picked;
  }
}

// The extremum of n floating-point numbers; of none, the infinity that every other number replaces.
// In vectors, which the compiler does not make of a loop with a selection: their NaN are noted
// beside.
template <bool greater, class T>
[[gnu::always_inline]] inline T extremum_of(const T* x, std::int64_t n) {
  constexpr T least =
      greater ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  constexpr std::int64_t width = 32 / sizeof(T), vectors = 4;
  typedef T V __attribute__((vector_size(32)));
  using Flags = decltype(V{} != V{});
  if (n < width * vectors) {
    T result = least;
    bool any_nan = false;
    for (std::int64_t i = 0; i < n; ++i) {
      result = (greater ? result > x[i] : result < x[i]) ? result : x[i];
      any_nan |= x[i] != x[i];
    }
    return any_nan ? std::numeric_limits<T>::quiet_NaN() : result;
  }
  V best[vectors];
  Flags nan[vectors] = {};
  for (V& v : best) v = V{} + least;
  std::int64_t i = 0;
  for (; i + width * vectors <= n; i += width * vectors) {
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < vectors; ++k) {
      V v;
      std::memcpy(&v, x + i + k * width, sizeof(V));
      best[k] = (greater ? best[k] > v : best[k] < v) ? best[k] : v;
      nan[k] |= v != v;
    }
  }
  const auto last = [&](V & to, Flags & flags, std::int64_t at) __attribute__((always_inline)) {
    V v;
    std::memcpy(&v, x + at, sizeof(V));
    to = (greater ? to > v : to < v) ? to : v;
    flags |= v != v;
  };
  for (std::int64_t k = 0; i + width <= n; i += width, ++k) last(best[k], nan[k], i);
  if (i < n) last(best[vectors - 1], nan[vectors - 1], n - width);  // some of them again
  T result = least;
  bool any_nan = false;
  // A NaN that a later number has replaced is noted; one that is left is not needed.
  for (std::int64_t k = 1; k < vectors; ++k) {
    best[0] = (greater ? best[0] > best[k] : best[0] < best[k]) ? best[0] : best[k];
    nan[0] |= nan[k];
  }
  for (std::int64_t l = 0; l < width; ++l) {
    any_nan |= nan[0][l] != 0;
    const T b = best[0][l];
    result = (greater ? result > b : result < b) ? result : b;
  }
  return any_nan ? std::numeric_limits<T>::quiet_NaN() : result;
}

// The same in each lane of vectors.
template <bool greater, class V>
[[gnu::always_inline]] inline void join_extremum(V& a, const V& b) {
  const V picked = (greater ? a > b : a < b) ? a : b;
  a = a != a ? a : picked;
}

// The combination of elements in reductions (kernels/tiles/reduce_loops.h,
// kernels/tiles/short_rows.h).
template <bool greatest>
struct Extreme {
  template <class T>
  static T combine(T a, T b) {
    return extremum<greatest>(a, b);
  }
  template <class V>
  [[gnu::always_inline]] static void join(V& a, const V& b) {
    join_extremum<greatest>(a, b);
  }
  template <class V>
    requires std::is_floating_point_v<std::remove_cvref_t<decltype(V{}[0])>>
  [[gnu::always_inline]] static void join_numbers(V& a, const V& b) {
    a = (greatest ? a > b : a < b) ? a : b;
  }
  template <class T>
  static T identity() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      return !greatest;
    } else if constexpr (std::is_integral_v<T>) {
      return greatest ? Limits::min() : Limits::max();
    } else if constexpr (std::is_floating_point_v<T>) {
      return greatest ? -Limits::infinity() : Limits::infinity();
    } else {
      using R = typename T::value_type;
      const R edge =
          greatest ? -std::numeric_limits<R>::infinity() : std::numeric_limits<R>::infinity();
      return T(edge, edge);
    }
  }
  template <std::floating_point T>
  static T row(const T* x, std::int64_t n) {
    return extremum_of<greatest>(x, n);
  }
};

}  // namespace shardax::kernels
