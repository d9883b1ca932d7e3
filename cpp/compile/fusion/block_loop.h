// compile/fusion/block_loop.h - the loop over the blocks of a tile group.
//
// Blocks are dealt to parts. Sums over rows have an accumulator for each line of blocks that they
// add, or for each piece of a line if lines are few. A part takes whole pieces.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "compile/fusion/masked_columns.h"
#include "compile/fusion/packed_operands.h"
#include "compile/fusion/tile_blocks.h"
#include "compile/plan.h"
#include "kernels/tiles/range_check.h"
#include "kernels/tiles/reduce.h"

namespace shardax {

// A window of which each block sees a part.
struct BlockedWindow {
  int slot = -1;
  bool packed = false;     // in the memory of packed operands, not in a slot
  std::int64_t start = 0;  // in bytes
  Shape steps;             // bytes from one index of each row dimension up to `split` to the next
};
BlockedWindow blocked(const Window& w, const TileDims& dims);

// A result that is added up over the rows but the first `kept` dimensions of them.
struct RowSum {
  kernels::ReduceKernels kernels;
  std::size_t output;  // of the block's program
  std::int64_t count;
  BlockedWindow to;
  std::int64_t width;  // bytes of an element in the block's result
  // Elements before and after the dimension of columns; inner = 0: it has none.
  std::int64_t outer = 1, inner = 0;

  std::int64_t accumulator_bytes() const {
    return (count * itemsize(kernels.accumulator) + 63) / 64 * 64;
  }
  std::int64_t scratch_bytes() const { return (count * 16 + 63) / 64 * 64; }
  // Adds a block's result with so many columns of all.
  void add(std::byte* total, const std::byte* block, std::int64_t columns, std::int64_t all) const;
};

// Elements of a value that are to lie between two numbers, in each block that leaves out columns.
struct BlockCondition {
  std::optional<std::size_t> output;  // of the block's program; none: an operand
  BlockedWindow operand;
  Type type;      // of a block's part
  Shape strides;  // in elements
  kernels::Range range;

  bool holds(const std::byte* at) const;
  std::int64_t scratch_bytes() const { return (type.bytes() + 63) / 64 * 64; }
};

// The program of a block that has the first columns only. The last one has all.
struct BlockPlan {
  std::int64_t columns;
  PlanPtr plan;
};

struct BlockLoop {
  Shape rows;
  std::size_t kept;
  Blocks blocks;
  std::vector<BlockPlan> plans;
  PlanPtr tail;                        // of the last block of a line, where it is shorter
  std::vector<BlockedWindow> in, out;  // slot -1: a sum or a condition
  std::vector<RowSum> sums;
  // Those of masked columns: after the index of a row plus `offset`.
  std::int64_t offset = 0;
  std::vector<BlockCondition> conditions;
  struct Packed {
    Window from;
    Packing packing;
    std::int64_t start;  // in their memory
  };
  std::vector<Packed> packed;
  std::int64_t packed_bytes = 0;
  std::vector<Window> finite;   // blocks leave out columns if all of their elements are finite
  std::vector<Window> bounded;  // and those of these smaller than largest_bounded

  // Has an operand packed before the loop.
  BlockedWindow pack(const Window& w, const BlockOperand& operand);
};
std::unique_ptr<Step> block_loop(BlockLoop loop);

}  // namespace shardax
