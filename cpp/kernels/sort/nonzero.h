// kernels/sort/nonzero.h - positions of the true elements of a mask.
#pragma once

#include <cstdint>

namespace shardax::kernels {

std::int64_t count_true(const bool* mask, std::int64_t n);

// The first `size` positions, in order; n where there are fewer.
void nonzero(const bool* mask, std::int64_t n, std::int32_t* out, std::int64_t size);
void nonzero(const bool* mask, std::int64_t n, std::int64_t* out, std::int64_t size);

}  // namespace shardax::kernels
