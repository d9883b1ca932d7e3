// kernels/conv/transpose16.cpp - squares of 8 x 8 elements, transposed in vectors of 128 bits.
#include "kernels/conv/transpose16.h"

#include <algorithm>
#include <cstring>

#include "base/target.h"

namespace shardax::kernels {
namespace {

typedef Bits16 V8 __attribute__((vector_size(16)));
typedef std::uint32_t V4 __attribute__((vector_size(16)));
typedef std::uint64_t V2 __attribute__((vector_size(16)));

constexpr std::int64_t side = 8;

// `bytes` of each column: those of 8 rows, or of 4.
template <std::size_t bytes>
[[gnu::always_inline]] inline void square(const Bits16* from, std::int64_t step, Bits16* const* to,
                                          std::int64_t at) {
  V8 v[side];
#pragma GCC unroll 8
  for (int j = 0; j < side; ++j) {
    v[j] = V8{};
    std::memcpy(&v[j], from + j * step, bytes);
  }
  V4 pairs[side];
#pragma GCC unroll 4
  for (int j = 0; j < side; j += 2) {
    V8 low, high;
    shuffle<0, 8, 1, 9, 2, 10, 3, 11>(low, v[j], v[j + 1]);
    shuffle<4, 12, 5, 13, 6, 14, 7, 15>(high, v[j], v[j + 1]);
    pairs[j] = V4(low), pairs[j + 1] = V4(high);
  }
  V2 fours[side];
#pragma GCC unroll 2
  for (int j = 0; j < side; j += 4) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      V4 low, high;
      shuffle<0, 4, 1, 5>(low, pairs[j + h], pairs[j + 2 + h]);
      shuffle<2, 6, 3, 7>(high, pairs[j + h], pairs[j + 2 + h]);
      fours[j + 2 * h] = V2(low), fours[j + 2 * h + 1] = V2(high);
    }
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    V2 low, high;
    shuffle<0, 2>(low, fours[i], fours[4 + i]);
    shuffle<1, 3>(high, fours[i], fours[4 + i]);
    std::memcpy(to[2 * i] + at, &low, sizeof low);
    std::memcpy(to[2 * i + 1] + at, &high, sizeof high);
  }
}

// All columns of some rows. The last squares overlap those before, and write the same.
template <std::size_t bytes>
[[gnu::always_inline]] inline void rows_of(const Bits16* from, std::int64_t step,
                                           std::int64_t columns, Bits16* const* to) {
  std::int64_t j = 0;
  for (; j + side <= columns; j += side) square<bytes>(from + j * step, step, to, j);
  if (j < columns) square<bytes>(from + (columns - side) * step, step, to, columns - side);
}

}  // namespace

void transpose16(const Bits16* from, std::int64_t step, std::int64_t rows, std::int64_t columns,
                 Bits16* const* to) {
  constexpr std::int64_t half = side / 2;
  if (columns < side || rows < half) {
    for (std::int64_t i = 0; i < rows; ++i) {
      Bits16* const row = to[i];
      for (std::int64_t j = 0; j < columns; ++j) row[j] = from[i + j * step];
    }
    return;
  }
  std::int64_t i = 0;
  for (; i + side <= rows; i += side) rows_of<16>(from + i, step, columns, to + i);
  if (i + half < rows && rows >= side) {
    rows_of<16>(from + rows - side, step, columns, to + rows - side);
  } else {
    if (i + half <= rows) rows_of<8>(from + i, step, columns, to + i), i += half;
    if (i < rows) rows_of<8>(from + rows - half, step, columns, to + rows - half);
  }
}

}  // namespace shardax::kernels
