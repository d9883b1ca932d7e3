// kernels/copy/copy.h - moving elements between strided memories.
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/type.h"

namespace shardax::kernels {

// Copies elements of `itemsize` bytes (1, 2, 4, 8 or 16) between two strided windows of one shape;
// strides are in elements. The windows must not overlap. Threads share large copies.
void copy_strided(std::byte* out, const Shape& out_strides, const std::byte* in,
                  const Shape& in_strides, const Shape& shape, int itemsize);

// Sets every element of a strided window to the one at `value`.
void fill_strided(std::byte* out, const Shape& out_strides, const Shape& shape,
                  const std::byte* value, int itemsize);

// Drops dimensions of size 1 and joins neighbours that both windows run through densely.
// Gives the collapsed rank; shape and strides are changed in place.
void collapse(Shape& shape, Shape& a, Shape& b);

}  // namespace shardax::kernels
