// ops/random/hashed_keys.h - generators of which each element and each new key is one hash of a
// counter: threefry4x32, philox2x32 and philox4x32.
//
// Element i of a draw is made of the hash of the 64-bit counter i under the key. A key made of
// another is the hash of such a counter too, which stands in other words where there are four.
#pragma once

#include <cstdint>

#include "array/dtype.h"

namespace shardax::ops {

// One of them; keys are those of its dtype, in memory.
struct HashedGenerator {
  void (*seed)(std::uint32_t high, std::uint32_t low, void* key);
  // The key of a key and a counter: key i of a split has counter i.
  void (*derive)(const void* key, std::uint64_t counter, void* out);
  void (*split)(const void* keys, std::int64_t count, std::int64_t n, void* out);
  // `n` unsigned integers of `bits` (8, 16, 32 or 64) for each key.
  void (*draw)(const void* keys, std::int64_t count, std::int64_t n, int bits, void* out);
};

// The generator of keys of that dtype; null for other generators.
const HashedGenerator* hashed_generator(DType impl);

}  // namespace shardax::ops
