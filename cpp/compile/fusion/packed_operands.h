// compile/fusion/packed_operands.h - operands of products that all blocks of a tile group share.
//
// A large product copies its right operand into panels of columns (kernels/gemm/pack.h). The keys
// and values of attention are the same for each block of queries: they are packed once, before the
// loop over blocks. In a block's program such an operand has the dimensions (panel, row, column of
// the panel), so that any product computes it.
#pragma once

#include <optional>
#include <vector>

#include "compile/fusion/tile_blocks.h"
#include "compile/plan.h"

namespace shardax {

// The panels of right operand `eqn.inputs[1]`, if they are worth it and the same in all blocks of a
// line. `columns`: which of its dimensions have columns that blocks may leave out.
std::optional<PanelDims> shared_panels(const Program& program, const Blocks& blocks,
                                       const Equation& eqn, const DimMap& map,
                                       const ColumnDims& columns);

// Packs an operand that lies at a window with such strides, for all lines of blocks: the dimensions
// of rows before the split, then panels.
struct Packing {
  PlanPtr plan;
  std::int64_t bytes;
  Shape steps;  // in elements, from one index of each dimension of rows to the next
};
Packing packing(const Type& type, const Shape& strides, const Blocks& blocks,
                const BlockOperand& operand);

}  // namespace shardax
