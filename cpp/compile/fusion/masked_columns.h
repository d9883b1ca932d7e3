// compile/fusion/masked_columns.h - the columns that a mask takes from the rows of a tile group.
//
//   c = select_n mask -inf s     mask: row >= column; or s + b, where b is -inf or -1e9 there
//   m = reduce_max[1] c; e = exp (sub c (m along rows)); f = reduce_sum[1] e; o = dot e v
// After column r of row r, c is -inf and e is 0. Maxima, sums and products of a block of rows up to
// r do without these columns, and so does all that leads to c. Causal attention takes half of the
// time. The same holds for gradients, where e is a factor of all that is added up.
//
// Two conditions are left to the run. Numbers of a row (m above) lie in a range, in which exp gives
// 0 and a quotient of 0 is 0. Numbers that meet zeros in a product are finite. A block that fails
// them is computed with all columns. Finite numbers whose product overflows under the mask are not
// seen.
#pragma once

#include <optional>
#include <vector>

#include "compile/fusion/tile_blocks.h"
#include "kernels/tiles/range_check.h"

namespace shardax {

// Elements of a value that has no columns lie between two numbers; perhaps none is zero.
struct RowCondition {
  Var var;
  TileDims dims;  // the group's rows in it
  bool outside;   // it is an operand of the group
  kernels::Range range;
};

struct MaskedColumns {
  std::int64_t count = 0;        // of all columns
  std::int64_t offset = 0;       // those after the row's index plus this one are masked
  std::vector<ColumnDims> dims;  // of each equation
  std::vector<RowCondition> conditions;
  std::vector<Var> finite;   // operands of the group
  std::vector<Var> bounded;  // those whose elements are smaller than largest_bounded
};

// Scores of such operands are far from a number like -1e9 that is added to them.
inline constexpr double largest_bounded = 1024;

// None where the group has no such mask along the rows, or uses columns under it. `results`: those
// that others need. `blocks` become as many as this takes.
std::optional<MaskedColumns> find_masked_columns(const Program& program, const TileGroup& group,
                                                 const std::vector<Var>& results, Blocks& blocks);

// Would the group do without masked columns if no other needed its large values?
bool may_skip_columns(const Program& program, const TileGroup& group);

}  // namespace shardax
