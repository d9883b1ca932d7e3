// ir/structural_equal.h - programs that are the same though they were made twice.
//
// Programs are equal if they agree in equations, types, numbers among the constants (arrays:
// identity), called user functions (identity), and the user's lines. A lambda that is written where
// it is used gives one on each turn of a loop.
#pragma once

#include "ir/program.h"

namespace shardax {

bool structurally_equal(const Program& a, const Program& b);
// Equal, or with programs that are the same.
bool structurally_equal_params(const Params& a, const Params& b);
// Equal for the same params.
std::size_t hash_same(const Params& params);

}  // namespace shardax
