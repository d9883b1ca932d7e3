// kernels/parts.h - how many parts of a size there are.
#pragma once

#include <cstdint>

namespace shardax::kernels {

// The last of which may be smaller.
inline std::int64_t parts_of(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

}  // namespace shardax::kernels
