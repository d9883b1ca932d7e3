// compile/fusion/tile_blocks.h - blocks of a tile group's rows, and the program of a block.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compile/fusion/tile_groups.h"

namespace shardax {

// Blocks take `size` indices of dimension `split` and all of the dimensions after it, for one index
// of each dimension before.
struct Blocks {
  std::size_t split = 0;
  std::int64_t size = 1;
  std::int64_t per_line = 1;  // blocks along `split`, the last of which may be shorter
  std::int64_t count = 1;
};
Blocks choose_blocks(const TileGroup& group, std::int64_t most_rows = INT64_MAX);

// The shape of a block's part of an array, with so many rows along the split dimension.
Shape rows_of_block(Shape shape, const TileGroup& group, const Blocks& blocks, const TileDims& dims,
                    std::int64_t size);

// The dimension of columns, some of which a block leaves out, in an equation's operands and result;
// no_dim: there is none.
struct ColumnDims {
  SmallVector<std::int32_t, 4> operands;
  std::int32_t result = no_dim;
};

// Those of a group whose blocks have all columns.
std::vector<ColumnDims> without_columns(const Program& program, const TileGroup& group);

// The right operand of a product, packed (compile/fusion/packed_operands.h). The product sums over
// its dimension of rows; `width` columns are a panel.
struct PanelDims {
  std::int32_t columns, rows;
  std::int64_t width;
  bool left_turned;  // the other operand is summed over a dimension before its own rows
  friend bool operator==(const PanelDims&, const PanelDims&) = default;
};

// An operand of the group, with the rows that its users need of it.
struct BlockOperand {
  Var var;
  TileDims dims;
  std::int32_t column = no_dim;
  std::optional<PanelDims> panels = {};
  friend bool operator==(const BlockOperand&, const BlockOperand&) = default;
};

// The group's equations over a block.
class BlockProgram {
 public:
  BlockProgram(const Program& program, const TileGroup& group, const Blocks& blocks,
               const std::vector<ColumnDims>& columns)
      : program_(program), group_(group), blocks_(blocks), columns_(columns) {}

  // `size` rows along the split dimension and so many columns; `first`: operands that come first.
  ProgramPtr make(const std::vector<Var>& results, std::int64_t size, std::int64_t count,
                  const std::vector<BlockOperand>& first);
  const std::vector<BlockOperand>& operands() const { return operands_; }

 private:
  Shape part_of(const Shape& shape, const TileDims& dims, std::int32_t column) const;
  Var operand(const BlockOperand& wanted);
  Var input(const Equation& eqn, const DimMap& map, const ColumnDims& column, std::size_t i);
  void add(const Equation& eqn, const DimMap& map, const ColumnDims& column);
  void multiply(const Equation& eqn, const DimMap& map, const ColumnDims& column,
                const PanelDims& panels);
  Var append(const Equation& eqn, const Op& op, Params params, Vars inputs, Type type);

  const Program& program_;
  const TileGroup& group_;
  const Blocks& blocks_;
  const std::vector<ColumnDims>& columns_;
  std::int64_t size_ = 1, count_ = 0;
  MutableProgram out_;
  std::vector<BlockOperand> operands_;
  std::unordered_multimap<Var, std::size_t> inputs_;
  std::unordered_map<Var, Var> made_;
};

}  // namespace shardax
