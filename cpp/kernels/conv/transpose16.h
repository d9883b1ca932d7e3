// kernels/conv/transpose16.h - 16-bit elements moved from columns to rows.
//
// Private to kernels/conv.
#pragma once

#include <cstdint>

namespace shardax::kernels {

using Bits16 = std::uint16_t;  // of a bfloat16

// to[i][j] = from[i + j * step] for i < rows and j < columns. The rows do not overlap `from`.
void transpose16(const Bits16* from, std::int64_t step, std::int64_t rows, std::int64_t columns,
                 Bits16* const* to);

}  // namespace shardax::kernels
