// kernels/copy/transposed_avx2.cpp - transposes in the registers of AVX2.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/target.h"
#include "kernels/copy/transposed.h"

#if SHARDAX_X86_64

SHARDAX_BEGIN_TARGET("avx2")

namespace shardax::kernels::avx2 {
namespace {

#define SHARDAX_VECTOR_BYTES 32
#include "kernels/copy/transposed_lanes.h"

}  // namespace

extern const WordKernels<std::uint32_t> words_4;
extern const WordKernels<std::uint64_t> words_8;
const WordKernels<std::uint32_t> words_4 = words<std::uint32_t>;
const WordKernels<std::uint64_t> words_8 = words<std::uint64_t>;

}  // namespace shardax::kernels::avx2

SHARDAX_END_TARGET
#endif
