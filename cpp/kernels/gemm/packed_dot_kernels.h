// kernels/gemm/packed_dot_kernels.h - tables of the inner kernels of products of groups.
//
// Private to kernels/gemm. A group fills 32 bits: four elements of 8 bits, or two of 16.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/gemm/packed_dot_chunks.h"

namespace shardax::kernels {

template <class S>
using GroupSum = std::conditional_t<std::is_same_v<S, std::uint16_t>, float, std::uint32_t>;

// S: elements as they lie, of bfloat16 their bits.
template <class S, class Sum>
struct GroupKernels {
  std::int64_t group, panel;  // elements in a group, columns of a panel
  std::int64_t tile;          // rows that are multiplied at a time
  double nanoseconds;         // of a group of a row by that of a panel
  std::int64_t block;         // groups of a row that are added up before the sums are
  bool biased;
  // sums[i][j] = or, with `add`, += the groups of row i of a times those of column j of a panel.
  // Of its columns, the first `columns` count; sums of the others may hold anything.
  void (*rows_by_panel)(std::int64_t rows, std::int64_t columns, std::int64_t groups,
                        const std::uint32_t* a, std::int64_t a_row, const std::uint32_t* b,
                        Sum* sums, std::int64_t sums_row, bool add);
  void (*pack_line)(const S* in, std::int64_t step, std::int64_t count, unsigned flip,
                    std::uint32_t* out);
  void (*pack_rows)(const S* in, std::int64_t row, std::int64_t n, std::int64_t count,
                    unsigned flip, std::uint32_t* out, std::int64_t out_row);
  // Null, or: sums of rows of a panel, rounded to bfloat16. Denormal numbers count as zero.
  void (*round_rows)(const Sum* sums, std::int64_t rows, std::uint16_t* out, std::int64_t out_row);
  // Groups come in multiples of `groups`, the last of zeros. Memory of rows, of a and of sums comes
  // in multiples of `rows`, the last of which may hold anything.
  std::int64_t groups = 1, rows = 1;
  GroupLimits limits = {};
  // Around calls of rows_by_panel, on the same thread.
  void (*open)() = nullptr;
  void (*close)() = nullptr;
};

// For pairs of bfloat16 of which the first has the low bits, as they lie in memory. Null where no
// instruction multiplies them faster than floats.
const GroupKernels<std::uint16_t, float>* pair_kernels();

}  // namespace shardax::kernels
