// base/hash.h - combining hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/index.h"

namespace shardax {

inline std::size_t mix(std::size_t seed, std::size_t value) {
  // The finaliser of splitmix64 (Steele, Lea, Flood 2014): every input bit reaches every output
  // bit.
  std::uint64_t z = seed * 0x9e3779b97f4a7c15ULL + value + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

template <class Range>
std::size_t mix_all(std::size_t seed, const Range& range) {
  seed = mix(seed, range.size());
  for (const auto& item : range) seed = mix(seed, index(item));
  return seed;
}

inline std::size_t hash_bytes(std::string_view text) { return std::hash<std::string_view>{}(text); }

}  // namespace shardax
