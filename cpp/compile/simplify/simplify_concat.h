// compile/simplify/simplify_concat.h - rewrites of concatenations and of work on them.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// v[start[0]:limit[0], ...].
Var slice_of(const PatternContext& m, Var v, const Ints& start, const Ints& limit);

// v[begin:end] along the dimension, of a broadcast a smaller one; v if it has no dimensions.
Var part_along(const PatternContext& m, Var v, std::int64_t dim, std::int64_t begin,
               std::int64_t end);

// The gradient of a split array, as neighbours that each lie among zeros:
//   [0, x, 0, 0] + [0, 0, y, 0]   ->   [0, [x, y], 0]
// Terms of a sum come in any order, for each part has its own users.
std::optional<Vars> join_pads(const PatternContext& m);
// [[x, y], z]   ->   [x, y, z]
std::optional<Vars> join_concatenations(const PatternContext& m);
// [x, y] + z   ->   [x + z[:n], y + z[n:]], whose sums are written where they lie in the whole
// (compile/lower/elide_concat.h).
std::optional<Vars> push_into_concat(const PatternContext& m);

}  // namespace shardax
