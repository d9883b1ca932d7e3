// compile/fold.h - what is computed of constants alone.
#pragma once

#include "compile/rewrite.h"

namespace shardax {

// The result of an elementwise op on single numbers that are constants:
//   sign(7)   ->   1
std::optional<Vars> fold_scalars(const Match& m);

}  // namespace shardax
