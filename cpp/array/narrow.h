// array/narrow.h - the values of numbers of fewer than 8 bits and of the 8-bit floats.
//
// Floats are rounded to nearest even. Where a value is too large it becomes infinity, where there
// is none NaN, and where there is neither the largest number. Integers out of floats saturate, and
// NaN becomes 0; integers out of integers wrap.
#pragma once

#include "array/dtype.h"

namespace shardax {

// The type in which such numbers are computed: float32 or int32.
inline DType wide_dtype(DType d) {
  if (is_narrow_float(d)) return DType::float32;
  return is_narrow_integer(d) ? DType::int32 : d;
}

narrow_t to_narrow(DType dtype, float value);
narrow_t to_narrow(DType dtype, std::int64_t value);
float narrow_float(DType dtype, narrow_t stored);
std::int64_t narrow_integer(DType dtype, narrow_t stored);

}  // namespace shardax
