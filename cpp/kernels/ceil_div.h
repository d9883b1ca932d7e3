// kernels/ceil_div.h - division rounded up.
#pragma once

#include <cstdint>

namespace shardax::kernels {

// The last of which may be smaller.
inline std::int64_t parts_of(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

}  // namespace shardax::kernels
