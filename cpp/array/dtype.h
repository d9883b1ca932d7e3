// array/dtype.h - element types: names, sizes, classes, and JAX's promotion lattice.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace shardax {

enum class DType : std::uint8_t {
  boolean,
  int1,
  int2,
  int4,
  int8,
  int16,
  int32,
  int64,
  uint1,
  uint2,
  uint4,
  uint8,
  uint16,
  uint32,
  uint64,
  float4_e2m1fn,
  float6_e2m3fn,
  float6_e3m2fn,
  float8_e3m4,
  float8_e4m3,
  float8_e4m3b11fnuz,
  float8_e4m3fn,
  float8_e4m3fnuz,
  float8_e5m2,
  float8_e5m2fnuz,
  float8_e8m0fnu,
  bfloat16,
  float16,
  float32,
  float64,
  complex64,
  complex128,
  key,       // key<fry>: a threefry key, two uint32 words
  key_rbg,   // key<rbg> and
  key_urbg,  // key<urbg>: keys of the Philox generator, four uint32 words
  key_fry4,  // key<fry4>: threefry4x32, four words
  key_phx2,  // key<phx2>: philox2x32, one word
  key_phx4,  // key<phx4>: philox4x32, two words
  // Of generators that the user defines (define_key): four words, of which they may use fewer.
  key_defined,
  key_last = key_defined + 7,
  float0,  // the tangent type of integers: no data
};
inline constexpr int dtype_count = static_cast<int>(DType::float0) + 1;

// Storage types of the two 16-bit floats; arithmetic on them happens in float.
struct bfloat16_t {
  std::uint16_t bits;
};
struct float16_t {
  std::uint16_t bits;
};
template <int count>
struct KeyWords {
  std::uint32_t words[count];
  friend bool operator==(const KeyWords&, const KeyWords&) = default;
};
using short_key_t = KeyWords<1>;
using key_t = KeyWords<2>;
using wide_key_t = KeyWords<4>;
// Storage of every number of fewer than 8 bits and of the 8-bit floats: a byte each, its unused
// bits 0. Arithmetic on them happens in a wider type (compile/lower/legalize_types.cpp).
struct narrow_t {
  std::uint8_t bits;
};
// Storage types that are no numbers to C++: code that computes leaves them out.
template <class T>
inline constexpr bool is_opaque = std::is_same_v<T, short_key_t> || std::is_same_v<T, key_t> ||
                                  std::is_same_v<T, wide_key_t> || std::is_same_v<T, narrow_t>;

int itemsize(DType dtype);                 // in bytes
int bit_width(DType dtype);                // 4 for int4
std::string_view name(DType dtype);        // "float32"
std::string_view short_name(DType dtype);  // "f32", as programs are printed

inline bool is_signed_integer(DType d) { return d >= DType::int1 && d <= DType::int64; }
inline bool is_unsigned_integer(DType d) { return d >= DType::uint1 && d <= DType::uint64; }
inline bool is_integer(DType d) { return d >= DType::int1 && d <= DType::uint64; }
inline bool is_floating(DType d) { return d >= DType::float4_e2m1fn && d <= DType::float64; }
inline bool is_complex(DType d) { return d == DType::complex64 || d == DType::complex128; }
inline bool is_inexact(DType d) { return d >= DType::float4_e2m1fn && d <= DType::complex128; }
inline bool is_half(DType d) { return d == DType::bfloat16 || d == DType::float16; }
inline bool is_narrow_float(DType d) {
  return d >= DType::float4_e2m1fn && d <= DType::float8_e8m0fnu;
}
inline bool is_narrow_integer(DType d) {
  return (d >= DType::int1 && d <= DType::int4) || (d >= DType::uint1 && d <= DType::uint4);
}
inline bool is_narrow(DType d) { return is_narrow_float(d) || is_narrow_integer(d); }
inline bool is_key(DType d) { return d >= DType::key && d <= DType::key_last; }
inline bool is_defined_key(DType d) { return d >= DType::key_defined && d <= DType::key_last; }
// A dtype for the keys of a generator that the user defines, called key<tag>. Throws ValueError
// where all are taken; they are never given back.
DType define_key(std::string_view tag);
// The type of |z| and of the parts of a complex number; the type itself for others.
DType real_dtype(DType d);
DType complex_dtype(DType d);
// The dtype in place of `dtype` while x64 is off (float64 -> float32 and so on).
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
    case DType::float0: return f(bool{});
    default: break;
  }
  switch (is_key(dtype) ? itemsize(dtype) : 1) {
    case 4: return f(short_key_t{});
    case 8: return f(key_t{});
    case 16: return f(wide_key_t{});
    default: return f(narrow_t{});
  }
}

}  // namespace shardax
