// compile/uses.h - which variables lie in memory, and for how long they are needed.
#pragma once

#include <vector>

#include "compile/fuse.h"

namespace shardax {

// Variables of loops that must lie in memory: results of reductions, what another unit uses, and
// results of the program.
std::vector<bool> stored_variables(const Program& program, const std::vector<FusedUnit>& units);

// The last unit that uses each variable, -1 where none does; the program's results are used after
// all units.
std::vector<int> last_uses(const Program& program, const std::vector<FusedUnit>& units);

}  // namespace shardax
