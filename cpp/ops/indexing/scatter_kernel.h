// ops/indexing/scatter_kernel.h - the kernels of the scatter ops.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

enum class ScatterKind : std::uint8_t { put, add, sub, mul, min, max };

// out = operands[0] with the windows operands[2] put or combined at the rows of operands[1].
// Updates of one element act in their order, whatever the number of threads.
Kernel make_scatter_kernel(ScatterKind kind, const Types& in, const Params& params);

template <ScatterKind kind>
Kernel scatter_kernel(const Types& in, const Types&, const Params& params) {
  return make_scatter_kernel(kind, in, params);
}

}  // namespace shardax::ops
