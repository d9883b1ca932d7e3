// ops/indexing/gather_kernel.h - the kernel of gather.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// out = the windows of operands[0] that start at the rows of operands[1].
Kernel gather_kernel(const Types& in, const Types& out, const Params& params);

}  // namespace shardax::ops
