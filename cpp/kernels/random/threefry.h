// kernels/random/threefry.h - the counter-based generator threefry-2x32 with 20 rounds.
//
// A block cipher on pairs of 32-bit words (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as
// easy as 1, 2, 3", 2011). Any element of a stream is computed from its counter alone, so chunks
// and lanes are free. Results are the same on every instruction set.
#pragma once

#include <cstdint>

namespace shardax::kernels {

struct ThreefryKey {
  std::uint32_t word0, word1;
};

// (out0[i], out1[i]) = hash of the pair (first0 + i * step0, first1 + i); counters wrap at 2^32.
void threefry_counters(ThreefryKey key, std::uint32_t first0, std::uint32_t step0,
                       std::uint32_t first1, std::int64_t n, std::uint32_t* out0,
                       std::uint32_t* out1);

// (out0[i], out1[i]) = hash of (count0[i], count1[i]) under (key0[i], key1[i]). Outputs may be the
// counts.
void threefry_elements(const std::uint32_t* key0, const std::uint32_t* key1,
                       const std::uint32_t* count0, const std::uint32_t* count1, std::int64_t n,
                       std::uint32_t* out0, std::uint32_t* out1);

}  // namespace shardax::kernels
