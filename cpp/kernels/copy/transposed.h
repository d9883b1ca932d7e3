// kernels/copy/transposed.h - blocks of a matrix with rows and columns exchanged, and other orders.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace shardax::kernels {

// Loops over words of 4 or 8 bytes by vectors of an instruction set.
template <class T>
struct WordKernels {
  // As transpose_block; false, and nothing done, where it is smaller than a square of vectors.
  bool (*transpose)(T* out, std::int64_t out_step, const T* in, std::int64_t in_step,
                    std::int64_t rows, std::int64_t columns);
  // As reorder_blocks, from the first element of a block on; how far it came, in whole blocks.
  std::int64_t (*reorder)(T* out, const T* in, std::int64_t n, const std::uint8_t* order,
                          std::int64_t size);
  // As read_strided; how many elements it did.
  std::int64_t (*stride)(T* out, const T* in, std::int64_t step, std::int64_t n);
};
// The functions for this processor; null if it has none.
template <class T>
const WordKernels<T>* word_kernels();

template <class T>
inline constexpr bool is_word = std::is_integral_v<T> && sizeof(T) >= 4;

// out[r * out_step + c] = in[r + c * in_step]. The memory of the two does not overlap.
template <class T>
void transpose_block(T* out, std::int64_t out_step, const T* in, std::int64_t in_step,
                     std::int64_t rows, std::int64_t columns) {
  if constexpr (is_word<T>) {
    const auto* words = word_kernels<T>();
    if (words && words->transpose(out, out_step, in, in_step, rows, columns)) return;
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) out[r * out_step + c] = in[r + c * in_step];
  }
}

// out[k] = in[k * step].
template <class T>
void read_strided(T* out, const T* in, std::int64_t step, std::int64_t n) {
  std::int64_t k = 0;
  if constexpr (is_word<T>) {
    if (const auto* words = word_kernels<T>()) k = words->stride(out, in, step, n);
  }
  for (; k < n; ++k) out[k] = in[k * step];
}

// Adjacent blocks of `size` elements, at most a line, each in another order. From element `first`
// of the first block on, out[k] = in[k - k % size + order[k % size]].
template <class T>
void reorder_blocks(T* out, const T* in, std::int64_t n, const std::uint8_t* order,
                    std::int64_t size, std::int64_t first) {
  std::int64_t k = 0;
  for (std::int64_t at = first; at > 0 && at < size && k < n; ++at, ++k)
    out[k] = in[order[at] - first];
  if constexpr (is_word<T>) {
    if (const auto* words = word_kernels<T>())
      k += words->reorder(out + k, in + k, n - k, order, size);
  }
  for (; k < n; k += size) {
    for (std::int64_t at = 0; at < size && k + at < n; ++at) out[k + at] = in[k + order[at]];
  }
}

}  // namespace shardax::kernels
