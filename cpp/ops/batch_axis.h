// ops/batch_axis.h - values shared by all elements of a batch, repeated for each.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// `a` with a new dimension 0 that repeats it. The new dimension is split as the batch is over the
// mesh of `like`, the first of these whose type shows one.
Value repeated(const Value& a, const BatchAxis& axis, const Values& like);

}  // namespace shardax::ops
