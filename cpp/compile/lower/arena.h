// compile/lower/arena.h - offsets of temporaries in the arena of one call.
#pragma once

#include <utility>
#include <vector>

#include "compile/plan.h"

namespace shardax {

// Gives every slot of the arena its offset: first fit over lifetimes, the largest first, each at
// the lowest offset that is free while it is in use; of very many slots in the order of their first
// use, each in the smallest gap that it fits. `uses`: the first and last step of each slot.
void place_arena(Plan& plan, const std::vector<std::pair<int, int>>& uses);

}  // namespace shardax
