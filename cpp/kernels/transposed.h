// kernels/transposed.h - blocks of a matrix with rows and columns exchanged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/dispatch.h"

namespace shardax::kernels {

// A square of as many elements as fill so many bytes, transposed in registers: in round s, vectors
// that are s apart exchange what lies s apart in them.
template <int bytes, class T>
[[gnu::always_inline]] inline void transpose_square(T* out, std::int64_t out_step, const T* in,
                                                    std::int64_t in_step) {
  constexpr int width = bytes / sizeof(T);
  typedef T V __attribute__((vector_size(bytes)));
  V v[width];
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) {
    std::memcpy(&v[i], in + i * in_step, sizeof(V));
    __builtin_prefetch(in + i * in_step + width);  // what the rows below need
  }
  V lane;
  for (int l = 0; l < width; ++l) lane[l] = static_cast<T>(l);
#pragma GCC unroll 4
  for (int s = 1; s < width; s *= 2) {
    const auto step = static_cast<T>(s);
    const V low = (lane & step) ? lane - step + static_cast<T>(width) : lane;
    const V high = (lane & step) ? lane + static_cast<T>(width) : lane + step;
#pragma GCC unroll 16
    for (int i = 0; i < width; ++i) {
      if (i & s) continue;
      const V a = v[i], b = v[i + s];
      v[i] = __builtin_shuffle(a, b, low);
      v[i + s] = __builtin_shuffle(a, b, high);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < width; ++i) std::memcpy(out + i * out_step, &v[i], sizeof(V));
}

// transpose_block by squares of that size; false where one is larger than the block.
template <int bytes, class T>
[[gnu::always_inline]] inline bool transpose_squares(T* out, std::int64_t out_step, const T* in,
                                                     std::int64_t in_step, std::int64_t rows,
                                                     std::int64_t columns) {
  constexpr std::int64_t width = bytes / sizeof(T);
  if (rows < width || columns < width) return false;
  // The last squares overlap those before.
  for (std::int64_t c = 0; c < columns; c += width) {
    const std::int64_t column = std::min(c, columns - width);
    for (std::int64_t r = 0; r < rows; r += width) {
      const std::int64_t row = std::min(r, rows - width);
      transpose_square<bytes>(out + row * out_step + column, out_step, in + row + column * in_step,
                              in_step);
    }
  }
  return true;
}

// out[r * out_step + c] = in[r + c * in_step]. The memory of the two does not overlap.
template <class T>
SHARDAX_CLONES [[gnu::flatten]] void transpose_block(T* out, std::int64_t out_step, const T* in,
                                                     std::int64_t in_step, std::int64_t rows,
                                                     std::int64_t columns) {
  if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
    if (transpose_squares<64>(out, out_step, in, in_step, rows, columns) ||
        transpose_squares<32>(out, out_step, in, in_step, rows, columns))
      return;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out[r * out_step + c] = in[r + c * in_step];
  }
}

// Blocks of `size` elements, at most half a line, that follow each other, each in another order:
// out[k] = in[k - k % size + order[k % size]], from element `first` of the first block on.
template <class T>
SHARDAX_CLONES void reorder_blocks(T* out, const T* in, std::int64_t n, const std::uint8_t* order,
                                   std::int64_t size, std::int64_t first) {
  constexpr std::int64_t width = 64 / sizeof(T);
  const auto one = [&](std::int64_t k) {
    const std::int64_t at = (first + k) % size;
    out[k] = in[k - at + order[at]];
  };
  std::int64_t k = 0;
  for (; k < n && (first + k) % size != 0; ++k) one(k);
  if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
    typedef T V __attribute__((vector_size(64)));
    const std::int64_t whole = width / size * size;  // what is behind is written again
    V lanes;
    for (std::int64_t l = 0; l < width; ++l) {
      const std::int64_t in_block = l % size;
      lanes[l] = static_cast<T>(l < whole ? l - in_block + order[in_block] : l);
    }
    for (; k + width <= n; k += whole) {
      V v;
      std::memcpy(&v, in + k, sizeof v);
      v = __builtin_shuffle(v, lanes);
      std::memcpy(out + k, &v, sizeof v);
    }
  }
  for (; k < n; ++k) one(k);
}

}  // namespace shardax::kernels
