// ops/collectives/process_reductions.cpp - loops that combine the terms of processes, in order.
#include "ops/collectives/process_reductions.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "array/half.h"
#include "base/errors.h"
#include "base/index.h"
#include "base/target.h"

namespace shardax::ops {
namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
// Not the operand that is a NaN, as of pmax.
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

template <class T, class Combine>
void combine_terms(std::byte* out, const std::byte* const* terms, std::size_t count,
                   std::size_t n) {
  if (count == 2) {  // as below, without the copies
    const T* a = reinterpret_cast<const T*>(terms[0]);
    const T* b = reinterpret_cast<const T*>(terms[1]);
    T* sum = reinterpret_cast<T*>(out);
    SHARDAX_IVDEP
    for (std::size_t i = 0; i < n; ++i) sum[i] = Combine()(a[i], b[i]);
    return;
  }
  constexpr std::size_t tile = 1024;
  for (std::size_t from = 0; from < n; from += tile) {
    const std::size_t size = std::min(tile, n - from);
    T sum[tile];
    std::memcpy(sum, terms[0] + from * sizeof(T), size * sizeof(T));
    for (std::size_t k = 1; k < count; ++k) {
      const T* term = reinterpret_cast<const T*>(terms[k]) + from;
      for (std::size_t i = 0; i < size; ++i) sum[i] = Combine()(sum[i], term[i]);
    }
    std::memcpy(out + from * sizeof(T), sum, size * sizeof(T));
  }
}

// 16-bit floats are added as float32 and rounded once.
inline bfloat16_t from_float(float x, bfloat16_t) { return to_bfloat16(x); }
inline float16_t from_float(float x, float16_t) { return to_float16(x); }

template <class T, class Combine>
void combine_halves(std::byte* out, const std::byte* const* terms, std::size_t count,
                    std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    float sum = to_float(reinterpret_cast<const T*>(terms[0])[i]);
    for (std::size_t k = 1; k < count; ++k)
      sum = Combine()(sum, to_float(reinterpret_cast<const T*>(terms[k])[i]));
    reinterpret_cast<T*>(out)[i] = from_float(sum, T{});
  }
}

template <class Combine>
runtime::Reduction reduction_of(DType dtype) {
  const auto size = index(itemsize(dtype));
  return visit_dtype(dtype, [&]<class T>(T) -> runtime::Reduction {
    if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>) {
      return {size, combine_halves<T, Combine>};
    } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                         std::is_same_v<T, std::complex<double>>) {
      if constexpr (std::is_same_v<Combine, Add>) return {size, combine_terms<T, Combine>};
    } else if constexpr (!is_opaque<T>) {
      return {size, combine_terms<T, Combine>};
    }
    type_error("process_all_reduce: the dtype ", name(dtype), " cannot be reduced.");
  });
}

}  // namespace

runtime::Reduction reduction_for(const std::string& computation, DType dtype) {
  if (computation == "add") return reduction_of<Add>(dtype);
  if (computation == "max") return reduction_of<Max>(dtype);
  if (computation == "min") return reduction_of<Min>(dtype);
  value_error("process_all_reduce: computation is '", computation,
              "'; expected 'add', 'max' or 'min'.");
}

}  // namespace shardax::ops
