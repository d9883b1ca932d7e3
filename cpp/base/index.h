// base/index.h - Numbers of variables, dimensions and elements as indices of containers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shardax {

constexpr std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace shardax
