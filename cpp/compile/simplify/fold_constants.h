// compile/simplify/fold_constants.h - evaluation of equations whose operands are constants.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// The result of an elementwise op on single numbers that are constants:
//   sign(7)   ->   1
std::optional<Vars> fold_constants(const PatternContext& m);

}  // namespace shardax
