// compile/lower/branch_aliasing.h - results of branches and loops written over their operands.
#pragma once

#include "ir/program.h"

namespace shardax {

// For each result of the equation, which carries programs: the operand whose memory all of them can
// leave it in, because they change it in place or give it back as it is; -1 where there is none. Of
// loops, operands of which each turn takes a slice, and results that are stacked.
std::vector<int> overwritable_operands(const Equation& eqn);

}  // namespace shardax
