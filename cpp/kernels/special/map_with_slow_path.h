// kernels/special/map_with_slow_path.h - tile kernels with a vector path for most elements, and a
// scalar one for far, infinite and NaN.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/tiles/dispatch.h"

namespace shardax::kernels {

// A number, or the parts of a complex one.
template <class T>
struct Parts {
  using type = T;
  static constexpr int count = 1;
};
template <class T>
struct Parts<std::complex<T>> {
  using type = T;
  static constexpr int count = 2;
};

// F(parts of the operands..., parts of the result...) computes a result, and says whether it is
// right. Elements do not depend on each other.
template <class Out, class In, auto F, int arity>
[[gnu::always_inline]] inline bool near_element(Out* out, const In* a, const In* b,
                                                std::int64_t i) {
  using P = typename Parts<In>::type;
  constexpr bool real = Parts<In>::count == 1;
  const auto *x = reinterpret_cast<const P*>(a), *y = reinterpret_cast<const P*>(b);
  auto* o = reinterpret_cast<P*>(out);
  const auto call = [&](auto&... to) __attribute__((always_inline)) {
    if constexpr (real && arity == 1)
      return F(x[i], to...);
    else if constexpr (real)
      return F(x[i], y[i], to...);
    else if constexpr (arity == 1)
      return F(x[2 * i], x[2 * i + 1], to...);
    else
      return F(x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1], to...);
  };
  if constexpr (Parts<Out>::count == 1) {
    P value;
    const bool right = call(value);
    o[i] = value;
    return right;
  } else {
    P value, imag;
    const bool right = call(value, imag);
    o[2 * i] = value;
    o[2 * i + 1] = imag;
    return right;
  }
}
template <class Out, class In, auto F, int arity>
bool near_elements(Out* out, const In* a, const In* b, std::int64_t n) {
  return dispatch([=] {
    // As wide as the numbers, for the vectors.
    using P = typename Parts<In>::type;
    using Word = std::conditional_t<sizeof(P) == 4, std::uint32_t, std::uint64_t>;
    Word wrong = 0;
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i)
      wrong |= near_element<Out, In, F, arity>(out, a, b, i) ? Word{0} : Word{1};
    return wrong == 0;
  });
}

// As F where that is right, and as G, which is right anywhere.
template <class In, auto F, auto G, int arity>
void map_with_slow_path(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  const auto far = [](const In* a, const In* b) {
    if constexpr (arity == 1)
      return G(*a);
    else
      return G(*a, *b);
  };
  using Out = decltype(far(nullptr, nullptr));
  constexpr std::int64_t block = 128;
  for (std::int64_t start = 0; start < n; start += block) {
    const std::int64_t m = std::min(block, n - start);
    const In* a = static_cast<const In*>(in[0]) + start;
    const In* b = arity == 1 ? a : static_cast<const In*>(in[1]) + start;
    Out results[block];  // as `out` may be an operand
    if (!near_elements<Out, In, F, arity>(results, a, b, m)) {
      for (std::int64_t i = 0; i < m; ++i) {
        Out one;
        if (!near_element<Out, In, F, arity>(&one, a + i, b + i, 0)) results[i] = far(a + i, b + i);
      }
    }
    std::copy_n(results, m, static_cast<Out*>(out) + start);
  }
}

}  // namespace shardax::kernels
