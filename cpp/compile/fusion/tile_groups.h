// compile/fusion/tile_groups.h - equations that share leading dimensions and run tile by tile.
//
//   b = reduce_max[1] a; d = sub a (b along rows); e = exp d; f = reduce_sum[1] e
//   g = div e (f along rows)
// would be four loops over an array larger than the cache, one for each reduction that the next
// waits for. Each row of it needs that row of `a` only, so the five equations are a group. Its
// loops run for a few rows, then for the next few (compile/fusion/tiled_step.h); `e` never exists
// as a whole.
#pragma once

#include <unordered_map>

#include "compile/fusion/dim_map.h"

namespace shardax {

struct TileGroup {
  std::vector<int> equations;  // in program order
  std::vector<DimMap> maps;    // of each
  Shape rows;                  // sizes of the row dimensions
  // Results that are added up over rows have this many of the row dimensions.
  std::size_t kept = 0;
  // The most bytes of one row that one loop of the group keeps for another, and whether the
  // equations include products.
  std::int64_t tile_footprint = 0;
  bool products = false;
  // The bytes of sums over rows for one index of the first `kept` row dimensions. Each block adds
  // to all of them.
  std::int64_t sum_bytes = 0;
};

// Sets tile_footprint, products and sum_bytes of a group. compile/fusion/tile_footprint.cpp
void measure_footprint(const Program& program, TileGroup& group);

// Equations that repeat those of another group.
using Copies = std::unordered_map<int, int>;

// Groups that are worth running so. Between two equations of a group no path leads through others.
std::vector<TileGroup> find_tile_groups(const Program& program, const Copies& copies = {});

}  // namespace shardax
