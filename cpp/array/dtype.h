// array/dtype.h - element types: names, sizes, classes, and JAX's promotion lattice.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>

namespace shardax {

enum class DType : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  bfloat16,
  float16,
  float32,
  float64,
  complex64,
  complex128,
  key,     // key<fry>: a threefry key, two uint32 words
  float0,  // the tangent type of integers: no data
};
inline constexpr int dtype_count = 17;

// Storage types of the two 16-bit floats; arithmetic on them happens in float.
struct bfloat16_t {
  std::uint16_t bits;
};
struct float16_t {
  std::uint16_t bits;
};
struct key_t {
  std::uint32_t words[2];
};

int itemsize(DType dtype);
std::string_view name(DType dtype);        // "float32"
std::string_view short_name(DType dtype);  // "f32", as programs are printed

inline bool is_signed_integer(DType d) { return d >= DType::int8 && d <= DType::int64; }
inline bool is_unsigned_integer(DType d) { return d >= DType::uint8 && d <= DType::uint64; }
inline bool is_integer(DType d) { return d >= DType::int8 && d <= DType::uint64; }
inline bool is_floating(DType d) { return d >= DType::bfloat16 && d <= DType::float64; }
inline bool is_complex(DType d) { return d == DType::complex64 || d == DType::complex128; }
inline bool is_inexact(DType d) { return d >= DType::bfloat16 && d <= DType::complex128; }
inline bool is_half(DType d) { return d == DType::bfloat16 || d == DType::float16; }
// The type of |z| and of the parts of a complex number; the type itself for others.
DType real_dtype(DType d);
DType complex_dtype(DType d);
// What `dtype` becomes while x64 is off (float64 -> float32 and so on).
DType canonical(DType dtype, bool x64);

// A type of the lattice: a weak type stands for a Python scalar of that class.
struct WeakDType {
  DType dtype;
  bool weak;
  friend bool operator==(const WeakDType&, const WeakDType&) = default;
};
// The join of two types in JAX's promotion lattice, for x64 on; canonicalise the result.
WeakDType promote(WeakDType a, WeakDType b, bool strict = false);

// Throws the TypeError for an op that was given a float0.
[[noreturn]] void float0_error(std::string_view op);

// Calls f(T{}) with the C++ type that stores `dtype` (bool, integers, the 16-bit storage types,
// float, double, std::complex).
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::boolean: return f(bool{});
    case DType::int8: return f(std::int8_t{});
    case DType::int16: return f(std::int16_t{});
    case DType::int32: return f(std::int32_t{});
    case DType::int64: return f(std::int64_t{});
    case DType::uint8: return f(std::uint8_t{});
    case DType::uint16: return f(std::uint16_t{});
    case DType::uint32: return f(std::uint32_t{});
    case DType::uint64: return f(std::uint64_t{});
    case DType::bfloat16: return f(bfloat16_t{});
    case DType::float16: return f(float16_t{});
    case DType::float32: return f(float{});
    case DType::float64: return f(double{});
    case DType::complex64: return f(std::complex<float>{});
    case DType::complex128: return f(std::complex<double>{});
    case DType::key: return f(key_t{});
    case DType::float0: break;
  }
  return f(bool{});
}

}  // namespace shardax
