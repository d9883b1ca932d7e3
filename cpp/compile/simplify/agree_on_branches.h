// compile/simplify/agree_on_branches.h - predicates of control flow that has messages inside.
#pragma once

#include "ir/regions.h"

namespace shardax {

// Is it a collective over process axes that asks another process, or a message?
bool is_between_processes(const Equation& eqn);

// Where messages are inside, processes compare the choice of a branch before they take it, and the
// condition of a loop each time: `in` are the operands, `regions` the programs of the equation. A
// difference is an error in all of them. Predicates that follow from constants and from results of
// messages alone are the same everywhere.
void agree_on_branches(const Equation& eqn, Regions& regions, Values& in);

}  // namespace shardax
