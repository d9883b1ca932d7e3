// compile/lower/arena.h - offsets of temporaries in the arena of one call.
#pragma once

#include <utility>
#include <vector>

#include "compile/plan.h"

namespace shardax {

// Gives every slot of the arena its offset: first fit over lifetimes, largest slot first, at the
// lowest offset free during its lifetime. Very many slots go in the order of first use, each into
// the smallest gap that it fits. `uses`: the first and last step of each slot.
void place_arena(Plan& plan, const std::vector<std::pair<int, int>>& uses);

}  // namespace shardax
