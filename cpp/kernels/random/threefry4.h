// kernels/random/threefry4.h - the counter-based generator threefry-4x32 with 20 rounds.
//
// A cipher on four 32-bit words under a key of four (Salmon, Moraes, Dror, Shaw: "Parallel random
// numbers: as easy as 1, 2, 3", 2011).
#pragma once

#include <array>
#include <cstdint>

namespace shardax::kernels {

using ThreefryBlock = std::array<std::uint32_t, 4>;

namespace threefry4_rounds {

// Adds the second word to the first and hides that in the second.
inline void mix(std::uint32_t& a, std::uint32_t& b, int bits) {
  a += b;
  b = (b << bits | b >> (32 - bits)) ^ a;
}

// Four rounds, then words of the key schedule from `number` on.
template <int number>
inline void four(ThreefryBlock& x, const std::uint32_t (&key)[5]) {
  constexpr bool odd = number % 2;
  mix(x[0], x[1], odd ? 10 : 6);
  mix(x[2], x[3], odd ? 26 : 20);
  mix(x[0], x[3], odd ? 11 : 17);
  mix(x[2], x[1], odd ? 21 : 11);
  mix(x[0], x[1], odd ? 13 : 25);
  mix(x[2], x[3], odd ? 27 : 10);
  mix(x[0], x[3], odd ? 23 : 18);
  mix(x[2], x[1], odd ? 5 : 20);
  x[0] += key[number % 5];
  x[1] += key[(number + 1) % 5];
  x[2] += key[(number + 2) % 5];
  x[3] += key[(number + 3) % 5] + number;
}

}  // namespace threefry4_rounds

inline ThreefryBlock threefry4(ThreefryBlock x, std::uint32_t key0, std::uint32_t key1,
                               std::uint32_t key2, std::uint32_t key3) {
  const std::uint32_t key[5] = {key0, key1, key2, key3, key0 ^ key1 ^ key2 ^ key3 ^ 0x1BD11BDA};
  for (std::size_t i = 0; i < 4; ++i) x[i] += key[i];
  threefry4_rounds::four<1>(x, key);
  threefry4_rounds::four<2>(x, key);
  threefry4_rounds::four<3>(x, key);
  threefry4_rounds::four<4>(x, key);
  threefry4_rounds::four<5>(x, key);
  return x;
}

}  // namespace shardax::kernels
