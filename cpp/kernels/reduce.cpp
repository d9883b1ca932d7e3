// kernels/reduce.cpp - reductions over tiles, vectorised over a fixed number of lanes.
#include "kernels/reduce.h"

#include <complex>
#include <limits>
#include <type_traits>

#include "base/errors.h"
#include "kernels/dispatch.h"
#include "kernels/extremum.h"

namespace shardax::kernels {
namespace {

template <class T>
inline constexpr bool is_complex_v = !std::is_arithmetic_v<T>;

// Adds as unsigned, so that integers wrap.
template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}
template <class T>
T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else if constexpr (is_complex_v<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

template <ReduceKind kind, class T>
struct Reducer {
  static T combine(T a, T b) {
    if constexpr (kind == ReduceKind::sum) return wrap_add(a, b);
    if constexpr (kind == ReduceKind::prod) return wrap_mul(a, b);
    if constexpr (kind == ReduceKind::max) return extremum<true>(a, b);
    if constexpr (kind == ReduceKind::min) return extremum<false>(a, b);
    if constexpr (std::is_integral_v<T>) {
      if constexpr (kind == ReduceKind::all) return static_cast<T>(a & b);
      if constexpr (kind == ReduceKind::any) return static_cast<T>(a | b);
    }
    return a;
  }
  static T identity() {
    using Limits = std::numeric_limits<T>;
    if constexpr (kind == ReduceKind::prod) return T(1);
    if constexpr (kind == ReduceKind::all && std::is_same_v<T, bool>) {
      return true;
    } else if constexpr (kind == ReduceKind::all && std::is_integral_v<T>) {
      return static_cast<T>(~T(0));
    }
    if constexpr (kind == ReduceKind::max || kind == ReduceKind::min) {
      constexpr bool max = kind == ReduceKind::max;
      if constexpr (std::is_same_v<T, bool>) return !max;
      if constexpr (std::is_integral_v<T>) return max ? Limits::min() : Limits::max();
      if constexpr (std::is_floating_point_v<T>)
        return max ? -Limits::infinity() : Limits::infinity();
      if constexpr (is_complex_v<T>) {
        using R = typename T::value_type;
        const R edge = std::numeric_limits<R>::infinity();
        return max ? T(-edge, -edge) : T(edge, edge);
      }
    }
    return T(0);
  }
};

template <ReduceKind kind, class T, class Acc>
void init(void* acc, std::int64_t n) {
  auto* a = static_cast<Acc*>(acc);
  for (std::int64_t i = 0; i < n; ++i) a[i] = static_cast<Acc>(Reducer<kind, T>::identity());
}

// 16 lanes, then a fixed tree over them, whatever the instruction set.
template <ReduceKind kind, class T, class Acc>
SHARDAX_CLONES void fold(void* acc, const void* in, std::int64_t n) {
  using R = Reducer<kind, T>;
  constexpr int lanes = 16;
  const T* x = static_cast<const T*>(in);
  T total;
  if constexpr ((kind == ReduceKind::max || kind == ReduceKind::min) &&
                std::is_floating_point_v<T>) {
    total = extremum_of<kind == ReduceKind::max>(x, n);
  } else if (n < lanes) {
    total = R::identity();
    for (std::int64_t i = 0; i < n; ++i) total = R::combine(total, x[i]);
  } else {
    T part[lanes];
    for (int l = 0; l < lanes; ++l) part[l] = x[l];
    std::int64_t i = lanes;
    for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 16
      for (int l = 0; l < lanes; ++l) part[l] = R::combine(part[l], x[i + l]);
    }
    for (int l = 0; i < n; ++i, ++l) part[l] = R::combine(part[l], x[i]);
    for (int width = lanes / 2; width > 0; width /= 2) {
      for (int l = 0; l < width; ++l) part[l] = R::combine(part[l], part[l + width]);
    }
    total = part[0];
  }
  auto* a = static_cast<Acc*>(acc);
  *a = Reducer<kind, Acc>::combine(*a, static_cast<Acc>(total));
}

template <ReduceKind kind, class T, class Acc>
SHARDAX_CLONES void zip(void* acc, const void* in, std::int64_t n) {
  auto* a = static_cast<Acc*>(acc);
  const T* x = static_cast<const T*>(in);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i)
    a[i] = Reducer<kind, Acc>::combine(a[i], static_cast<Acc>(x[i]));
}

template <class T, class Acc>
void finish(void* out, std::int64_t stride, const void* acc, std::int64_t n) {
  auto* o = static_cast<T*>(out);
  const auto* a = static_cast<const Acc*>(acc);
  for (std::int64_t i = 0; i < n; ++i) o[i * stride] = static_cast<T>(a[i]);
}

template <ReduceKind kind, class T, class Acc>
ReduceKernels make() {
  return {dtype_of<Acc>,     init<kind, T, Acc>,  fold<kind, T, Acc>,
          zip<kind, T, Acc>, zip<kind, Acc, Acc>, finish<T, Acc>};
}

template <ReduceKind kind>
ReduceKernels pick(DType dtype) {
  ReduceKernels found{};
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    constexpr bool logical = kind == ReduceKind::all || kind == ReduceKind::any;
    constexpr bool arithmetic = kind == ReduceKind::sum || kind == ReduceKind::prod;
    if constexpr (is_computed<T> && !(logical && !std::is_integral_v<T>) &&
                  !(arithmetic && std::is_same_v<T, bool>)) {
      using Acc =
          std::conditional_t<kind == ReduceKind::sum && std::is_same_v<T, float>, double, T>;
      found = make<kind, T, Acc>();
    }
  });
  return found;
}

}  // namespace

ReduceKernels reduce_kernels(ReduceKind kind, DType dtype) {
  switch (kind) {
    case ReduceKind::sum: return pick<ReduceKind::sum>(dtype);
    case ReduceKind::prod: return pick<ReduceKind::prod>(dtype);
    case ReduceKind::max: return pick<ReduceKind::max>(dtype);
    case ReduceKind::min: return pick<ReduceKind::min>(dtype);
    case ReduceKind::all: return pick<ReduceKind::all>(dtype);
    case ReduceKind::any: return pick<ReduceKind::any>(dtype);
  }
  throw InternalError("reduce_kernels: unknown kind");
}

}  // namespace shardax::kernels
