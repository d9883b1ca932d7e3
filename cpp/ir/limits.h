// ir/limits.h - limits of array sizes.
#pragma once

#include <string_view>

#include "array/type.h"

namespace shardax {

// Throws ValueError, which names `user`, for a type with more dimensions than NumPy has
// (`max_rank`) or with more bytes than 63 bits count.
void check_limits(std::string_view user, const Type& type);

}  // namespace shardax
