// control/shard_map.h - shard_map: a per-device program on blocks of arrays, over a grid of axes.
//
// There is no op of that name: each axis of the grid is a `pmap`, one in the other. An array that
// axes split is seen, without a copy, with a dimension for each of them, along which it is mapped:
//
//   x: f32[8,6], dimension 0 over 'a' (2) and 'b' (2), 1 over 'c' (3)
//   seen as f32[2,2,2,3,2]: a, b, rows of a block, c, columns of a block
#pragma once

#include "transform/batch.h"

namespace shardax {

struct Grid {
  struct Axis {
    AxisName name;
    std::int64_t size;
  };
  // For each dimension of an array, the axes that split it (positions in `axes`), major first.
  using Blocks = std::vector<Ints>;

  std::vector<Axis> axes;  // outermost first
  std::vector<Blocks> in, out;
  // How operands and results are labelled; null: not at all.
  std::vector<ShardingPtr> in_shardings, out_shardings;

  AxisSet names() const;
  // How many blocks there are along a dimension that `split` splits.
  std::int64_t count(const Ints& split) const;
  // The type of one block of an array, and of the array whose blocks have a type.
  Type block(Type whole, const Blocks& blocks) const;
  Type whole(Type block, const Blocks& blocks) const;
};

// The program of whole arrays for `body`, a program of blocks.
ProgramPtr shard_map_program(const Grid& grid, const ProgramPtr& body, const Types& wholes);

// The same at once, op by op: `body` is called with the values of all devices. It may set
// `grid.out` and what else concerns results.
Values shard_map_by_op(const Grid& grid, const ValueFunction& body, const Values& in);

}  // namespace shardax
