// array/half.h - conversions between float and the 16-bit storage types, rounding to nearest even.
#pragma once

#include <bit>
#include <cstdint>

#include "array/dtype.h"
#include "base/target.h"

namespace shardax {

// IEEE 754's binary16 by integers, for compilers without a type for it. NaN become quiet and keep
// the high bits of their payload, as the machine's conversions do.
inline float float_of_half_bits(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7fffu, sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent_gap = (127u - 15u) << 23;
  std::uint32_t bits = (magnitude << 13) + exponent_gap;
  if (magnitude < 0x400u) {  // a multiple of the least denormal number
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  } else if (magnitude >= 0x7c00u) {
    bits = (magnitude << 13) | 0x7f800000u | (magnitude > 0x7c00u ? 0x400000u : 0u);
  }
  return std::bit_cast<float>(sign | bits);
}
inline std::uint16_t half_bits(float x) {
  const auto all = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = all & 0x7fffffffu, exponent_gap = (127u - 15u) << 23;
  const std::uint32_t moved = magnitude - exponent_gap;
  std::uint32_t bits = (moved + 0xfffu + ((moved >> 13) & 1u)) >> 13;
  if (magnitude < 0x38800000u) {  // denormal: the last bit of 0.5 + x has the least one's weight
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    bits = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5f);
  } else if (magnitude > 0x7f800000u) {
    bits = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x47800000u) {  // from 2^16 on
    bits = 0x7c00u;
  }
  return static_cast<std::uint16_t>(bits | ((all >> 16) & 0x8000u));
}
// Rounded once: a float on the way that is not exact is cut off and marked by its last bit.
inline std::uint16_t half_bits(double x) {
  const auto near = static_cast<float>(x);
  auto bits = std::bit_cast<std::uint32_t>(near);
  if (static_cast<double>(near) != x && x == x) {
    const double magnitude = x < 0 ? -x : x, rounded = near < 0 ? -near : near;
    if (rounded > magnitude) --bits;
    bits |= 1u;
  }
  return half_bits(std::bit_cast<float>(bits));
}

inline float to_float(bfloat16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

inline bfloat16_t to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<std::uint16_t>(is_nan ? ((bits >> 16) | 0x40u) : rounded)};
}

#if defined(SHARDAX_FLOAT16)
inline float to_float(float16_t x) {
  return static_cast<float>(std::bit_cast<SHARDAX_FLOAT16>(x.bits));
}
inline float16_t to_float16(float x) {
  return {std::bit_cast<std::uint16_t>(static_cast<SHARDAX_FLOAT16>(x))};
}
inline float16_t to_float16(double x) {
  return {std::bit_cast<std::uint16_t>(static_cast<SHARDAX_FLOAT16>(x))};
}
#else
inline float to_float(float16_t x) { return float_of_half_bits(x.bits); }
inline float16_t to_float16(float x) { return {half_bits(x)}; }
inline float16_t to_float16(double x) { return {half_bits(x)}; }
#endif

}  // namespace shardax
