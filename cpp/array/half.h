// array/half.h - conversions between float and the 16-bit storage types, rounding to nearest even.
#pragma once

#include <bit>
#include <cstdint>

#include "array/dtype.h"

namespace shardax {

inline float to_float(bfloat16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

inline bfloat16_t to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<std::uint16_t>(is_nan ? ((bits >> 16) | 0x40u) : rounded)};
}

// _Float16 rounds as IEEE 754 asks and becomes one instruction where the machine has it.
inline float to_float(float16_t x) { return static_cast<float>(std::bit_cast<_Float16>(x.bits)); }
inline float16_t to_float16(float x) {
  return {std::bit_cast<std::uint16_t>(static_cast<_Float16>(x))};
}

}  // namespace shardax
