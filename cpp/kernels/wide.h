// kernels/wide.h - elements as the numbers that they are computed in: 16-bit floats as floats.
#pragma once

#include <type_traits>

#include "array/half.h"

namespace shardax::kernels {

template <class T>
constexpr bool is_half_v = std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>;
template <class T>
using Wide = std::conditional_t<is_half_v<T>, float, T>;

template <class T>
Wide<T> lift(T x) {
  if constexpr (is_half_v<T>) {
    return to_float(x);
  } else {
    return x;
  }
}
// Rounded to T.
template <class T, class A>
T lower(A x) {
  if constexpr (std::is_same_v<T, bfloat16_t>) {
    return to_bfloat16(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, float16_t>) {
    return to_float16(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

// f(a, b), of integers as unsigned ones of at least the width of int, so that overflow wraps.
template <class T, class F>
auto wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using U = std::make_unsigned_t<T>;
    using W = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, U>;
    return static_cast<T>(
        static_cast<U>(f(static_cast<W>(static_cast<U>(a)), static_cast<W>(static_cast<U>(b)))));
  } else {
    return f(a, b);
  }
}
template <class T>
T wrap_add(T a, T b) {
  return static_cast<T>(wrapping(a, b, [](auto x, auto y) { return x + y; }));
}

}  // namespace shardax::kernels
