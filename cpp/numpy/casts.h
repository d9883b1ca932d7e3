// numpy/casts.h - casts of operands, which programs show.
#pragma once

#include "numpy/promote.h"

namespace shardax::numpy {

// as_type, but for an array that the staged function captures the equation.
Value cast(const Value& value, WeakDType type);

}  // namespace shardax::numpy
