// control/forwarding.h - control flow without the values that only pass through it.
#pragma once

#include "ir/op.h"

namespace shardax {

// Binds an op that carries programs, without the values that these hand on unchanged. Carries that
// each run keeps become constants, and outputs that are inputs are not computed. So
//   scan f:  (c, x) -> (c, c * x, x)   runs   f':  (c; x) -> c * x   with c a constant,
// and such values keep being the caller's own: not batched, with no derivative rule in between.
Values bind_forwarding(const Op& op, const Params& params, const Values& in);

}  // namespace shardax
