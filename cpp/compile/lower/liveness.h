// compile/lower/liveness.h - liveness: uses, last uses and storage of variables.
#pragma once

#include <vector>

#include "compile/fusion/fuse.h"

namespace shardax {

// The number of uses of each variable by equations and results.
std::vector<int> count_uses(const Program& program);

// Variables of loops that must lie in memory: results of reductions, operands of other units, and
// results of the program.
std::vector<bool> stored_variables(const Program& program, const std::vector<FusionGroup>& units);

// The last unit that uses each variable, -1 where none does; the program's results are used after
// all units.
std::vector<int> last_uses(const Program& program, const std::vector<FusionGroup>& units);

}  // namespace shardax
