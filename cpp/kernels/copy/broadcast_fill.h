// kernels/copy/broadcast_fill.h - broadcast operands written out along rows.
//
// Up to 63 bytes more than there are elements are written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/tiles/dispatch.h"

namespace shardax::kernels {

// Elements that lie `step` apart, each `count` times, and up to 63 bytes more.
template <class T>
void fill_each(T* out, std::int64_t count, const T* in, std::int64_t step, std::int64_t rows) {
  dispatch([=]() mutable {
    if constexpr (std::is_integral_v<T>) {
      constexpr std::int64_t width = 64 / sizeof(T);
      typedef T V __attribute__((vector_size(64)));
      for (std::int64_t r = 0; r < rows; ++r, out += count) {
        const V v = V{} + in[r * step];
        for (std::int64_t k = 0; k < count; k += width) std::memcpy(out + k, &v, sizeof v);
      }
    } else {
      for (std::int64_t r = 0; r < rows; ++r, out += count) std::fill_n(out, count, in[r * step]);
    }
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

}  // namespace shardax::kernels
