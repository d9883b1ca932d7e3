// compile/lower/branch_aliasing.h - results of branches and loops written over their operands.
#pragma once

#include "ir/program.h"

namespace shardax {

// For each result of the equation, which carries programs: an operand whose memory all of them can
// leave it in, or -1. They change the operand in place or return it unchanged. For loops it also
// gives operands of which each turn takes a slice, and results that are stacked.
std::vector<int> overwritable_operands(const Equation& eqn);

}  // namespace shardax
