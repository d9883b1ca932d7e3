// ops/permutations.h - orders of dimensions, and the params of the op that keeps that of elements.
#pragma once

#include "base/index.h"
#include "ir/params.h"

namespace shardax::ops {

// ints[order[d]] for each d; of two orders the one of a transpose by the first, then the second.
inline Ints reordered(const Ints& ints, const Ints& order) {
  Ints out;
  for (const std::int64_t d : order) out.push_back(ints[index(d)]);
  return out;
}

// The order that puts dimensions back.
inline Ints inverse_order(const Ints& order) {
  Ints out(order.size());
  for (std::size_t d = 0; d < order.size(); ++d)
    out[index(order[d])] = static_cast<std::int64_t>(d);
  return out;
}

// The params of a reshape to that shape.
inline Params reshape_params(const Shape& shape) {
  return {{"dimensions", std::monostate{}}, {"new_sizes", shape}, {"sharding", std::monostate{}}};
}

}  // namespace shardax::ops
