// compile/fusion/fuse.h - fusion of elementwise equations and reductions into loops.
//
//   c = mul a b; d = add c 1; e = reduce_sum d     three passes over memory
// becomes
//   load, mul, add, accumulate                     one group over the shape of a
//
// A group iterates over one shape. It may hold reductions of that shape over one set of axes, whose
// results are available after it. Layout ops, products and the like are units of their own; so is a
// group of equations that run rows by rows (compile/fusion/tile_groups.h).
#pragma once

#include <vector>

#include "compile/fusion/tile_groups.h"

namespace shardax {

struct FusionGroup {
  std::vector<int> equations;  // in program order
  bool loop = false;           // a tile loop; else one equation of another kind, or a group's
  Shape shape;                 // of the loop
  Ints axes;                   // of its reductions, if any
  bool reduces = false;
  std::shared_ptr<const TileGroup> rows;  // of a group that runs rows by rows
};

// Units in an order in which each comes after those it needs.
std::vector<FusionGroup> fuse(const Program& program, const std::vector<TileGroup>& groups = {});

}  // namespace shardax
