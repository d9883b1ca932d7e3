// kernels/conv/transpose16.h - 16-bit elements moved: from columns to rows, and in short rows.
//
// Private to kernels/conv.
#pragma once

#include <cstdint>
#include <cstring>

namespace shardax::kernels {

using Bits16 = std::uint16_t;  // of a bfloat16

// to[i][j] = from[i + j * step] for i < rows and j < columns. The rows do not overlap `from`.
void transpose16(const Bits16* from, std::int64_t step, std::int64_t rows, std::int64_t columns,
                 Bits16* const* to);

// to[i] = from[i] for i < n. Rows are often too short for a call.
[[gnu::always_inline]] inline void copy16(const Bits16* from, std::int64_t n, Bits16* to) {
  constexpr std::int64_t many = 8, few = 4;  // the last ones overlap those before
  if (n >= many) {
    for (std::int64_t i = 0; i + many < n; i += many)
      std::memcpy(to + i, from + i, many * sizeof *to);
    std::memcpy(to + n - many, from + n - many, many * sizeof *to);
  } else if (n >= few) {
    std::memcpy(to, from, few * sizeof *to);
    std::memcpy(to + n - few, from + n - few, few * sizeof *to);
  } else {
    for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i, from + i, sizeof *to);
  }
}

}  // namespace shardax::kernels
