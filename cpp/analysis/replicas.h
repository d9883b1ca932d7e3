// analysis/replicas.h - a search for replicas of an array that differ.
#pragma once

#include <optional>

#include "array/array.h"

namespace shardax {

struct Difference {
  std::int64_t part;  // the first that differs from part 0, row-major over `counts`
  Shape index;        // of the first element that does, within a part
};

// `counts` says into how many parts each dimension is divided. Bits are compared, up to the first
// difference.
std::optional<Difference> first_difference(const Array& array, const Shape& counts);

}  // namespace shardax
