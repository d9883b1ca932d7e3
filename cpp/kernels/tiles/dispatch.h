// kernels/tiles/dispatch.h - tile kernels for elementwise functions, cloned per instruction set.
//
// Each takes n contiguous elements and runs the clone for the machine (AVX-512, AVX2, baseline).
//
// Code that spells out vectors names one instruction set instead, and is called if the processor
// has it. Each clone is compiled, optimised and kept, which is most of the time that kernels take
// to build.
#pragma once

#include <complex>
#include <cstdint>

#include "array/dtype.h"
#include "base/target.h"

namespace shardax::kernels {

template <class T>
inline constexpr DType dtype_of = DType::float0;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::int16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::int64;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::uint16;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::uint32;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::uint64;
template <>
inline constexpr DType dtype_of<float> = DType::float32;
template <>
inline constexpr DType dtype_of<double> = DType::float64;
template <>
inline constexpr DType dtype_of<std::complex<float>> = DType::complex64;
template <>
inline constexpr DType dtype_of<std::complex<double>> = DType::complex128;
template <>
inline constexpr DType dtype_of<bfloat16_t> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<float16_t> = DType::float16;

// Types that tile kernels compute in; the 16-bit floats and narrower numbers are widened first.
template <class T>
inline constexpr bool is_computed =
    !std::is_same_v<T, bfloat16_t> && !std::is_same_v<T, float16_t> && !is_opaque<T>;

// out and the inputs never overlap partly; out may be one of the inputs exactly.
template <class T, auto F>
void map1(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  dispatch([=] {
    using R = decltype(F(T{}));
    R* o = static_cast<R*>(out);
    const T* a = static_cast<const T*>(in[0]);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) o[i] = F(a[i]);
  });
}

template <class T, auto F>
void map2(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  dispatch([=] {
    using R = decltype(F(T{}, T{}));
    R* o = static_cast<R*>(out);
    const T* a = static_cast<const T*>(in[0]);
    const T* b = static_cast<const T*>(in[1]);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) o[i] = F(a[i], b[i]);
  });
}

template <class T, auto F>
void map3(void* out, const void* const* in, std::int64_t n, std::int64_t) {
  dispatch([=] {
    using R = decltype(F(T{}, T{}, T{}));
    R* o = static_cast<R*>(out);
    const T* a = static_cast<const T*>(in[0]);
    const T* b = static_cast<const T*>(in[1]);
    const T* c = static_cast<const T*>(in[2]);
    SHARDAX_IVDEP
    for (std::int64_t i = 0; i < n; ++i) o[i] = F(a[i], b[i], c[i]);
  });
}

}  // namespace shardax::kernels
