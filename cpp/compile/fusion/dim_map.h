// compile/fusion/dim_map.h - the dimension of each variable of a group that the tiles split.
//
// A group runs for some indices of its row dimensions at a time (compile/fusion/tile_groups.h).
// From operand to result, a row dimension stays a dimension, perhaps another one, or is added up:
//   rows f32[8,4,...] of an operand [8,4,64,5]     dimensions {0, 1}
//   its transpose [8,64,5,4]                       {0, 3}
//   a contraction of dimension 1                   {0, added_up}
#pragma once

#include "ir/dim_factors.h"

namespace shardax {

// For each row dimension, the one of a variable. no_dim: all of an operand is needed; a result has
// it added up.
using TileDims = SmallVector<std::int32_t, 6>;

struct DimMap {
  std::size_t rows = 0;  // the number of row dimensions that can be followed; 0: none
  TileDims result;       // those that are added up come last
  std::vector<TileDims> operands;

  // Row dimensions that are not added up, of the first `rows`.
  std::size_t kept(std::size_t rows) const;
  // Are they the leading dimensions, in order, of a result of this shape, others of size 1 aside?
  bool leading(const Shape& shape, std::size_t rows) const;
};

// Follows up to `rows` row dimensions through an equation, given where they are in some of its
// operands (null: not given). It applies to ops with one result whose kernels take any number of
// rows.
DimMap follow_rows(const Program& program, const Equation& eqn,
                   const std::vector<const TileDims*>& given, std::size_t rows);

// The operand from which rows can start, and its row dimensions: all of more than one element up to
// the first reduced one. The right operand of a product gives none. -1: none.
struct TileStart {
  int operand = -1;
  TileDims dims;
};
TileStart start_of_rows(const Program& program, const Equation& eqn);

}  // namespace shardax
