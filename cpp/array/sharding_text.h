// array/sharding_text.h - shardings as programs show them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "array/sharding.h"

namespace shardax {

// As to_string, with dimensions that are split however suits: P(UNCONSTRAINED, 'x').
std::string open_text(const Sharding& sharding, std::span<const std::int64_t> open);

}  // namespace shardax
