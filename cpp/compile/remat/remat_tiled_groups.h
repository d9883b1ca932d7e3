// compile/remat/remat_tiled_groups.h - values of tile groups recomputed in the backward pass.
//
// p = exp(q k' - m) of attention is as large as all pairs of positions. Its sources are small: q, k
// and one m for each row. The group of rows that makes it (compile/fusion/tile_groups.h) never has
// it as a whole, unless something outside, the backward pass, uses it:
//   d = dot q k; e = exp d; f = reduce_sum e; ...; y = mul e x    e in memory from group to group
//   d = dot q k; e = exp d; f = reduce_sum e; ...; d' = dot q k; e' = exp d'; y = mul e' x
#pragma once

#include "compile/fusion/tile_groups.h"

namespace shardax {

struct GroupedProgram {
  ProgramPtr program;
  std::vector<TileGroup> groups;
};

// The program's groups of rows. Groups recompute the large results of others that they use, if that
// leaves none of these in memory.
GroupedProgram form_tile_groups(const ProgramPtr& program);

}  // namespace shardax
