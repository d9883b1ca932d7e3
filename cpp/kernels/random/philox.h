// kernels/random/philox.h - counter-based generators philox-4x32 and philox-2x32, 10 rounds.
//
// Block ciphers on four 32-bit words under a key of two, and on two under a key of one. They are
// Salmon, Moraes, Dror and Shaw's, "Parallel random numbers: as easy as 1, 2, 3", 2011.
#pragma once

#include <array>
#include <cstdint>

namespace shardax::kernels {

using PhiloxBlock = std::array<std::uint32_t, 4>;

inline PhiloxBlock philox(PhiloxBlock x, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

using PhiloxPair = std::array<std::uint32_t, 2>;

inline PhiloxPair philox2(PhiloxPair x, std::uint32_t key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD256D193} * x[0];
    x = {static_cast<std::uint32_t>(a >> 32) ^ x[1] ^ key, static_cast<std::uint32_t>(a)};
    key += 0x9E3779B9;
  }
  return x;
}

}  // namespace shardax::kernels
