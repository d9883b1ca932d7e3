// ir/text/element_text.cpp - shortest decimals, and bits where a decimal does not say them all.
#include "ir/text/element_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "array/half.h"
#include "array/narrow.h"
#include "base/errors.h"
#include "base/index.h"

namespace shardax {
namespace {

template <class T>
std::string shortest(T v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  const double size = std::abs(static_cast<double>(v));
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 48> buffer;
  char* const first = buffer.data();
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::string out(first, std::to_chars(first, first + buffer.size(), v, format).ptr);
  if (fixed && out.find('.') == std::string::npos) out += ".0";
  return out;
}

// All of the text.
template <class T, class... Format>
bool read_all(std::string_view text, T& value, Format... format) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, format...);
  return error == std::errc() && at == end;
}

bool read_real(const std::string& text, float& value) {
  return read_all(text, value, std::chars_format::general);
}
bool read_real(const std::string& text, double& value) {
  return read_all(text, value, std::chars_format::general);
}

template <class T>
void store(std::byte* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

bool read_bits(DType dtype, const std::string& text, std::byte* element) {
  std::uint64_t bits = 0;
  if (!text.starts_with("0x") || !read_all(std::string_view(text).substr(2), bits, 16))
    return false;
  const auto size = index(itemsize(dtype));
  if (size < sizeof bits && bits >> (8 * size) != 0) return false;
  if (dtype == DType::boolean || is_integer(dtype) || size == 0 || size > sizeof bits) return false;
  if (is_narrow(dtype) && bits >> bit_width(dtype) != 0) return false;
  std::memcpy(element, &bits, size);
  return true;
}

bool read_half(DType dtype, const std::string& text, std::byte* element) {
  float value = 0;
  if (!read_real(text, value)) return false;
  if (dtype == DType::bfloat16) {
    store(element, to_bfloat16(value));
  } else {
    store(element, to_float16(value));
  }
  return true;
}

// Finds the number of that text among the few of the dtype.
bool read_narrow(DType dtype, const std::string& text, std::byte* element) {
  for (unsigned code = 0; code < 1U << bit_width(dtype); ++code) {
    const narrow_t stored{static_cast<std::uint8_t>(code)};
    const std::string own = is_narrow_float(dtype) ? shortest(narrow_float(dtype, stored))
                                                   : std::to_string(narrow_integer(dtype, stored));
    if (own != text) continue;
    store(element, stored);
    return true;
  }
  return false;
}

// The text of an element that is one number, without its bits.
std::string decimal_text(DType dtype, const std::byte* element) {
  return visit_dtype(dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    T x;
    std::memcpy(&x, element, sizeof x);
    if constexpr (std::is_same_v<T, bool>)
      return x ? "True" : "False";
    else if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>)
      return shortest(to_float(x));
    else if constexpr (std::is_same_v<T, narrow_t>)
      return is_narrow_float(dtype) ? shortest(narrow_float(dtype, x))
                                    : std::to_string(narrow_integer(dtype, x));
    else if constexpr (std::is_integral_v<T>)
      return std::to_string(x);
    else if constexpr (std::is_floating_point_v<T>)
      return shortest(x);
    else
      return {};
  });
}

std::string bits_text(DType dtype, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, index(itemsize(dtype)));
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bits, 16).ptr;
  return concat("bits(0x", std::string(digits.data(), end), ")");
}

std::string part_text(DType dtype, const std::byte* element) {
  if (itemsize(dtype) == 0) return "False";
  std::string text = decimal_text(dtype, element);
  std::array<std::byte, 8> read{};
  const auto size = index(itemsize(dtype));
  const bool exact =
      read_number(dtype, {text}, read.data()) && std::memcmp(read.data(), element, size) == 0;
  return exact ? text : bits_text(dtype, element);
}

}  // namespace

std::string real_text(float v) { return shortest(v); }
std::string real_text(double v) { return shortest(v); }

ElementParts element_parts(DType dtype) {
  if (is_complex(dtype)) return {2, real_dtype(dtype)};
  if (is_key(dtype)) return {itemsize(dtype) / 4, DType::uint32};
  return {1, dtype};
}

std::string exact_text(DType dtype, const std::byte* element) {
  const ElementParts parts = element_parts(dtype);
  if (parts.dtype == dtype) return part_text(dtype, element);
  std::string out = "(";
  for (int i = 0; i < parts.count; ++i)
    out += (i ? ", " : "") + part_text(parts.dtype, element + i * itemsize(parts.dtype));
  return out + (parts.count == 1 ? ",)" : ")");
}

bool read_number(DType dtype, const NumberText& number, std::byte* element) {
  const std::string& text = number.text;
  if (number.bits) return read_bits(dtype, text, element);
  if (dtype == DType::float0) return text == "False";
  if (is_half(dtype)) return read_half(dtype, text, element);
  return visit_dtype(dtype, [&](auto x) {
    using T = decltype(x);
    if constexpr (std::is_same_v<T, narrow_t>) {
      return read_narrow(dtype, text, element);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (text != "True" && text != "False") return false;
      store(element, text == "True");
    } else if constexpr (std::is_integral_v<T>) {
      if (!read_all(text, x)) return false;
      store(element, x);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!read_real(text, x)) return false;
      // from_chars does not say which NaN it gives.
      store(element, std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x);
    } else {
      return false;
    }
    return true;
  });
}

}  // namespace shardax
