// compile/simplify/agree_on_branches.h - predicates of control flow that has messages inside.
#pragma once

#include "ir/regions.h"

namespace shardax {

// For each variable of a program: do all processes have the same value, where those of the inputs
// that are marked do? So are constants, results of messages between all processes, and values that
// follow from these alone.
std::vector<bool> same_in_processes(const Program& program, const std::vector<bool>& inputs);

// If messages are inside, processes compare the index of a branch before they take it, and the
// condition of a loop each time. A difference is an error in all of them. `in` are the operands of
// an op with these regions, `same` says which of them processes share.
void agree_on_branches(const std::vector<bool>& same, Regions& regions, Values& in);

}  // namespace shardax
