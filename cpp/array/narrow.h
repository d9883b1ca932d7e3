// array/narrow.h - the values of numbers of fewer than 8 bits and of the 8-bit floats.
//
// Floats are rounded to nearest even. A value that is too large becomes infinity, without an
// infinity NaN, without either the largest number. Integers out of floats saturate, and NaN becomes
// 0; integers out of integers wrap.
#pragma once

#include <bit>
#include <cstdint>

#include "array/dtype.h"

namespace shardax {

// The type in which such numbers are computed: float32 or int32.
inline DType wide_dtype(DType d) {
  if (is_narrow_float(d)) return DType::float32;
  return is_narrow_integer(d) ? DType::int32 : d;
}

narrow_t to_narrow(DType dtype, float value);
narrow_t to_narrow(DType dtype, std::int64_t value);
// The value of each of 256 codes of a narrow float.
const float* narrow_values(DType dtype);
float narrow_float(DType dtype, narrow_t stored);
std::int64_t narrow_integer(DType dtype, narrow_t stored);

// A code is sign, exponent and mantissa. Codes without the sign grow with the value.
struct NarrowFormat {
  int mantissa;  // bits
  int bias;      // of the exponent
  int sign;      // the sign's bit
  int greatest;  // the code of the largest number
  int infinity;  // 0 where there is none
  int nan;       // 0 where there is none
  bool signed_zero = true;
};

// The format of a float but float8_e8m0fnu, which has no mantissa, no sign and no zero.
NarrowFormat narrow_format(DType dtype);

// The code of a value, without a branch, so that loops over it are vectors.
inline std::uint8_t narrow_code(const NarrowFormat& f, float value) {
  constexpr std::uint32_t infinite = 0x7f800000;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff,
                      dropped = static_cast<std::uint32_t>(23 - f.mantissa);
  const int sign = bits >> 31 ? f.sign : 0;
  // Normal numbers, whose mantissa carries into the exponent as it does in the code.
  const std::uint32_t rounded =
      magnitude + ((1U << (dropped - 1)) - 1) + (magnitude >> dropped & 1);
  const int normal = static_cast<int>(rounded >> dropped) - ((127 - f.bias) << f.mantissa);
  // Smaller numbers: the sum with a number whose last place is theirs is rounded to it.
  const int place = (151 - f.bias - f.mantissa) << 23;
  const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(place);
  const int small = std::bit_cast<int>(sum) - place;
  const int code = magnitude < static_cast<std::uint32_t>(128 - f.bias) << 23 ? small : normal;
  const int past = f.infinity ? f.infinity : f.nan ? f.nan : f.greatest;
  const int held = code > f.greatest ? past : code;
  const int number = held == 0 && !f.signed_zero ? 0 : held | sign;
  // If there is no NaN, minus zero stands for it, as in ml_dtypes and XLA.
  const int nan = f.nan == 0 ? f.sign : f.signed_zero ? f.nan | sign : f.nan;
  return static_cast<std::uint8_t>(magnitude > infinite ? nan : number);
}

}  // namespace shardax
