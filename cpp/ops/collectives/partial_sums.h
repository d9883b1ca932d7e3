// ops/collectives/partial_sums.h - each device's term of an array that is a sum over mesh axes.
#pragma once

#include "trace/trace.h"

namespace shardax::ops {

// The terms of `a`, which is left to sum over the first axes that split `stack` (one for each
// leading dimension that `a` lacks), stacked. If nobody knows them, the first device has all and
// the others zero. Its cotangent is the sum of those of the terms.
Value partial_sums(const Value& a, const ShardingPtr& stack, std::size_t count);

}  // namespace shardax::ops
