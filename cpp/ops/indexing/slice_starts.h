// ops/indexing/slice_starts.h - rules for start indices of slices.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// One scalar per dimension of the operand, behind `before` other operands; windows of `window`.
Starts scalar_starts(const Values& in, std::size_t before, const Shape& window);
Starts gather_starts(const Params& params, const Values& in);
Starts scatter_starts(const Params& params, const Values& in);

Value int32s(const Ints& values);

}  // namespace shardax::ops
