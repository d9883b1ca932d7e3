// array/narrow.cpp - the formats of narrow floats as numbers, and the conversions they define.
#include "array/narrow.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/index.h"

namespace shardax {
namespace {

// float8_e8m0fnu has no mantissa, no sign and no zero, and so rules of its own.
constexpr int power_bias = 127;
constexpr int power_nan = 0xff;

// The exponent, one more from half the way on; of subnormal numbers, above 2^-127.
int power_code(float value) {
  constexpr std::uint32_t half = 0x400000;
  if (!(value > 0)) return power_nan;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits < 2 * half ? bits > half : static_cast<int>((bits + half) >> 23);
}

float decode(const NarrowFormat& f, int code) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (!f.signed_zero && code == f.nan) return nan;
  const int magnitude = code & (f.sign - 1);
  const float sign = code & f.sign ? -1.0f : 1.0f;
  if (magnitude > f.greatest) {
    return f.infinity && magnitude == f.infinity ? sign * std::numeric_limits<float>::infinity()
                                                 : nan;
  }
  const int field = magnitude >> f.mantissa, part = magnitude & ((1 << f.mantissa) - 1);
  const int units = field ? part | 1 << f.mantissa : part;
  return sign * std::ldexp(static_cast<float>(units), std::max(field, 1) - f.bias - f.mantissa);
}

using Values = std::array<float, 256>;

constexpr int first_float = static_cast<int>(DType::float4_e2m1fn);
constexpr int float_formats = static_cast<int>(DType::float8_e8m0fnu) - first_float + 1;

// The value of each code of each format.
const Values& values_of(DType dtype) {
  static const std::array<Values, float_formats> all = [] {
    std::array<Values, float_formats> made{};
    for (int i = 0; i < float_formats; ++i) {
      const auto format = static_cast<DType>(first_float + i);
      for (int code = 0; code < 256; ++code) {
        made[index(i)][index(code)] = format != DType::float8_e8m0fnu
                                          ? decode(narrow_format(format), code)
                                      : code == power_nan ? std::numeric_limits<float>::quiet_NaN()
                                                          : std::ldexp(1.0f, code - power_bias);
      }
    }
    return made;
  }();
  return all[index(static_cast<int>(dtype) - first_float)];
}

narrow_t low_bits(DType dtype, std::int64_t value) {
  return {static_cast<std::uint8_t>(value & ((1 << bit_width(dtype)) - 1))};
}

}  // namespace

NarrowFormat narrow_format(DType dtype) {
  switch (dtype) {
    case DType::float4_e2m1fn: return {1, 1, 0x08, 0x07, 0, 0};
    case DType::float6_e2m3fn: return {3, 1, 0x20, 0x1f, 0, 0};
    case DType::float6_e3m2fn: return {2, 3, 0x20, 0x1f, 0, 0};
    case DType::float8_e3m4: return {4, 3, 0x80, 0x6f, 0x70, 0x78};
    case DType::float8_e4m3: return {3, 7, 0x80, 0x77, 0x78, 0x7c};
    case DType::float8_e4m3b11fnuz: return {3, 11, 0x80, 0x7f, 0, 0x80, false};
    case DType::float8_e4m3fn: return {3, 7, 0x80, 0x7e, 0, 0x7f};
    case DType::float8_e4m3fnuz: return {3, 8, 0x80, 0x7f, 0, 0x80, false};
    case DType::float8_e5m2: return {2, 15, 0x80, 0x7b, 0x7c, 0x7e};
    default: return {2, 16, 0x80, 0x7f, 0, 0x80, false};  // float8_e5m2fnuz
  }
}

const float* narrow_values(DType dtype) { return values_of(dtype).data(); }

narrow_t to_narrow(DType dtype, float value) {
  if (dtype == DType::float8_e8m0fnu) return {static_cast<std::uint8_t>(power_code(value))};
  if (is_narrow_float(dtype)) return {narrow_code(narrow_format(dtype), value)};
  const int bits = bit_width(dtype);
  const bool has_sign = is_signed_integer(dtype);
  const auto low = has_sign ? -static_cast<float>(1 << (bits - 1)) : 0.0f;
  const auto high = static_cast<float>((1 << (has_sign ? bits - 1 : bits)) - 1);
  return low_bits(dtype, std::isnan(value) ? 0 : static_cast<int>(std::clamp(value, low, high)));
}

narrow_t to_narrow(DType dtype, std::int64_t value) {
  if (is_narrow_float(dtype)) return to_narrow(dtype, static_cast<float>(value));
  return low_bits(dtype, value);
}

float narrow_float(DType dtype, narrow_t stored) {
  if (!is_narrow_float(dtype)) return static_cast<float>(narrow_integer(dtype, stored));
  return values_of(dtype)[stored.bits];
}

std::int64_t narrow_integer(DType dtype, narrow_t stored) {
  const std::int64_t value = low_bits(dtype, stored.bits).bits;
  const std::int64_t sign = std::int64_t{1} << (bit_width(dtype) - 1);
  return is_signed_integer(dtype) ? (value ^ sign) - sign : value;
}

}  // namespace shardax
