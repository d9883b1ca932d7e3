// ops/layout.h - shared parts of layout ops.
#pragma once

#include "ops/family.h"

namespace shardax::ops {

inline std::string list(const Ints& ints) { return to_string(ints); }

// Positions of the dimensions of `ints` when a leading one is added.
inline Ints shifted(const Ints& ints, std::int64_t by = 1) {
  Ints out;
  for (std::int64_t i : ints) out.push_back(i + by);
  return out;
}
inline Ints with_front(std::int64_t first, const Ints& rest) {
  Ints out{first};
  out.append(rest.begin(), rest.end());
  return out;
}

inline Types one(const Type& in, Shape shape) { return {with_shape(in, std::move(shape))}; }

constexpr OpSpec layout(OpSpec spec) {
  spec.kind = Kind::layout;
  spec.dtypes = ~DTypeSet{0};
  spec.half_native = true;
  return spec;
}

}  // namespace shardax::ops
