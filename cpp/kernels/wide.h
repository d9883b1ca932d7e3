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

// Integers are added as unsigned, so that they wrap.
template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

}  // namespace shardax::kernels
