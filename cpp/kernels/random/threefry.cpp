// kernels/random/threefry.cpp - the generator of each instruction set, and dispatch.
#include "kernels/random/threefry.h"

#include <cstddef>

#include "base/target.h"

namespace shardax::kernels {
namespace {

constexpr std::uint32_t key_parity = 0x1BD11BDA;

namespace baseline {
#define SHARDAX_LANES 4
#define SHARDAX_VECTORS 4
#include "kernels/random/threefry_lanes.h"
#undef SHARDAX_LANES
#undef SHARDAX_VECTORS
}  // namespace baseline

#if SHARDAX_X86_64
SHARDAX_BEGIN_TARGET("avx2")
namespace avx2 {
#define SHARDAX_LANES 8
#define SHARDAX_VECTORS 4
#include "kernels/random/threefry_lanes.h"
#undef SHARDAX_LANES
#undef SHARDAX_VECTORS
}  // namespace avx2
SHARDAX_END_TARGET

SHARDAX_BEGIN_TARGET("avx512f,avx512vl")
namespace avx512 {
#define SHARDAX_LANES 16
#define SHARDAX_VECTORS 4
#include "kernels/random/threefry_lanes.h"
#undef SHARDAX_LANES
#undef SHARDAX_VECTORS
}  // namespace avx512
SHARDAX_END_TARGET
#endif

struct Table {
  decltype(&baseline::counters) counters;
  decltype(&baseline::elements) elements;
};

const Table& table() {
  static const Table chosen = [] {
#if SHARDAX_X86_64
    if (SHARDAX_CPU_SUPPORTS("avx512vl")) return Table{avx512::counters, avx512::elements};
    if (SHARDAX_CPU_SUPPORTS("avx2")) return Table{avx2::counters, avx2::elements};
#endif
    return Table{baseline::counters, baseline::elements};
  }();
  return chosen;
}

}  // namespace

void threefry_counters(ThreefryKey key, std::uint32_t first0, std::uint32_t step0,
                       std::uint32_t first1, std::int64_t n, std::uint32_t* out0,
                       std::uint32_t* out1) {
  table().counters(key, first0, step0, first1, n, out0, out1);
}

void threefry_elements(const std::uint32_t* key0, const std::uint32_t* key1,
                       const std::uint32_t* count0, const std::uint32_t* count1, std::int64_t n,
                       std::uint32_t* out0, std::uint32_t* out1) {
  table().elements(key0, key1, count0, count1, n, out0, out1);
}

}  // namespace shardax::kernels
