// kernels/copy/broadcast_fill.h - rows of operands written out one after the other.
//
// Up to 63 bytes more than there are elements are written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/tiles/dispatch.h"

namespace shardax::kernels {

template <class T>
[[gnu::always_inline]] inline void fill_run(T* out, std::int64_t count, T value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr std::int64_t width = 64 / sizeof(T);
    typedef T V __attribute__((vector_size(64)));
    const V v = V{} + value;
    for (std::int64_t k = 0; k < count; k += width) std::memcpy(out + k, &v, sizeof v);
  } else {
    std::fill_n(out, count, value);
  }
}

// Elements that lie `step` apart, each `count` times, and up to 63 bytes more.
template <class T>
void fill_each(T* out, std::int64_t count, const T* in, std::int64_t step, std::int64_t rows) {
  dispatch([=]() mutable {
    for (std::int64_t r = 0; r < rows; ++r, out += count) fill_run(out, count, in[r * step]);
  });
}

// A row of `count` elements, `rows` times.
template <class T>
void fill_row(T* out, std::int64_t count, const T* in, std::int64_t rows) {
  dispatch([=] {
    const std::int64_t n = rows * count;
    std::copy_n(in, count, out);
    if constexpr (std::is_integral_v<T>) {
      constexpr std::int64_t width = 64 / sizeof(T);
      typedef T V __attribute__((vector_size(64)));
      // From as many rows before as fill a vector.
      const std::int64_t before = (width + count - 1) / count * count;
      const std::int64_t first = std::min(n, before);
      for (std::int64_t k = count; k < first; ++k) out[k] = out[k - count];
      for (std::int64_t k = first; k < n; k += width) {
        V v;
        std::memcpy(&v, out + k - before, sizeof v);
        std::memcpy(out + k, &v, sizeof v);
      }
    } else {
      for (std::int64_t k = count; k < n; ++k) out[k] = out[k - count];
    }
  });
}

// In vectors, the last of which may overlap the one before.
template <int bytes, class T>
[[gnu::always_inline]] inline void copy_vectors(T* out, const T* in, std::int64_t count) {
  constexpr std::int64_t width = bytes / sizeof(T);
  typedef T V __attribute__((vector_size(bytes)));
  V v;
  for (std::int64_t k = 0; k + width < count; k += width) {
    std::memcpy(&v, in + k, sizeof v);
    std::memcpy(out + k, &v, sizeof v);
  }
  std::memcpy(&v, in + count - width, sizeof v);
  std::memcpy(out + count - width, &v, sizeof v);
}

// Rows of `count` elements from offsets on.
template <class T>
void copy_rows(T* out, std::int64_t count, const T* in, const std::int32_t* offsets,
               std::int64_t rows) {
  dispatch([=]() mutable {
    for (std::int64_t r = 0; r < rows; ++r, out += count) {
      const T* from = in + offsets[r];
      const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
      if constexpr (std::is_integral_v<T>) {
        if (bytes >= 64) {
          copy_vectors<64>(out, from, count);
          continue;
        }
        if (bytes >= 16) {
          copy_vectors<16>(out, from, count);
          continue;
        }
      }
      for (std::int64_t k = 0; k < count; ++k) out[k] = from[k];
    }
  });
}

// The elements at offsets, each `count` times, and up to 63 bytes more.
template <class T>
void repeat_each(T* out, std::int64_t count, const T* in, const std::int32_t* offsets,
                 std::int64_t rows) {
  dispatch([=]() mutable {
    for (std::int64_t r = 0; r < rows; ++r, out += count) fill_run(out, count, in[offsets[r]]);
  });
}

}  // namespace shardax::kernels
