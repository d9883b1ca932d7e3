// kernels/tiles/block_loop.h - elementwise loops over operands that are transposed, block by block.
#pragma once

#include "kernels/tiles/tile_loop.h"

namespace shardax::kernels {

// Runs a loop without reductions that reads some operand across its rows. A tile is a block of
// several rows and columns, of which each line of memory is read once. False, and nothing is done,
// where no operand is read so, or where rows or columns are few.
bool run_in_blocks(const TileLoop& loop, std::byte* const* base, std::int64_t total,
                   ParallelFor parallel_for);

}  // namespace shardax::kernels
