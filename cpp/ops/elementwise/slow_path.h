// ops/elementwise/slow_path.h - records with a fast kernel for most numbers of one dtype.
#pragma once

#include "kernels/special/map_with_slow_path.h"
#include "kernels/special/math.h"
#include "ops/family.h"

namespace shardax::ops {

// Before the body of a `near`, for which vectors need it.
#define SHARDAX_FAST_PATH __attribute__((always_inline))

// The kernels of `base`, but for numbers of type In that of near
// (kernels/special/map_with_slow_path.h) and far.
template <auto base, class In, auto near, auto far, int arity = 1>
MapKernel map_slow_path(const Types& in, const Type& out, const Params& params) {
  MapKernel found = base(in, out, params);
  if (in[0].dtype == kernels::dtype_of<In>)
    found.function = kernels::map_with_slow_path<In, near, far, arity>;
  return found;
}

using Single = std::complex<float>;

SHARDAX_SIMD bool is_finite(float x) { return simd::abs(x) < simd::inf_f; }
// Both, without a branch between them.
SHARDAX_SIMD bool are_finite(float a, float b) {
  const bool first = is_finite(a), second = is_finite(b);
  return first & second;
}
// Takes |z|^2 in float64, which neither overflows nor underflows.
SHARDAX_SIMD bool is_near(double size) { return (size > 0) & (size < simd::inf_d); }

}  // namespace shardax::ops
