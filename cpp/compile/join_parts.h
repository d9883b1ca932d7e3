// compile/join_parts.h - what is put together of parts.
#pragma once

#include "compile/rewrite.h"

namespace shardax {

// Is it a scalar constant, or one repeated, of that value?
bool is_scalar_constant(const Builder& builder, Var v, double wanted);

// The gradient of what was taken apart, neighbours that each lie among zeros:
//   [0, x, 0, 0] + [0, 0, y, 0]   ->   [0, [x, y], 0]
std::optional<Vars> join_pads(const Match& m);
// [[x, y], z]   ->   [x, y, z]
std::optional<Vars> join_concatenations(const Match& m);

}  // namespace shardax
