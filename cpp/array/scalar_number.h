// array/scalar_number.h - the number that a real array of rank 0 holds.
#pragma once

#include <optional>

#include "array/array.h"

namespace shardax {

// True is 1. None for complex numbers, keys, float0 and other ranks.
std::optional<double> scalar_number(const Array& scalar);

}  // namespace shardax
