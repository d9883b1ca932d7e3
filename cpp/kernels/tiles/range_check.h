// kernels/tiles/range_check.h - checks that numbers of a run are finite, or lie in a range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/dtype.h"

namespace shardax::kernels {

// Of real floating-point dtypes; false for others.
bool all_finite(DType dtype, const std::byte* at, std::int64_t n);

// Greater than `above` and less than `below`, and none 0 if that is `nonzero`. float32 or float64.
struct Range {
  double above, below;
  bool nonzero;
};
bool all_within(DType dtype, const std::byte* at, std::int64_t n, const Range& range);

}  // namespace shardax::kernels
