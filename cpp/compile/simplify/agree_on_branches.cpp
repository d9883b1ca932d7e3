// compile/simplify/agree_on_branches.cpp - comparing predicates between processes.
#include "compile/simplify/agree_on_branches.h"

namespace shardax {

void agree_on_branches(const Equation&, Regions&, Values&) {}

}  // namespace shardax
