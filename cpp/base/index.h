// base/index.h - numbers of variables, dimensions and elements, and enumerators, as indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace shardax {

constexpr std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class E>
  requires std::is_enum_v<E>
constexpr std::size_t index(E e) {
  return static_cast<std::size_t>(e);
}

}  // namespace shardax
