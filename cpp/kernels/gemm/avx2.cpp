// kernels/gemm/avx2.cpp - the inner kernels of the float product for AVX2 and FMA.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "array/half.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"

#if SHARDAX_X86_64
#include <immintrin.h>

SHARDAX_BEGIN_TARGET("avx2,fma,f16c")

namespace shardax::kernels::avx2 {
namespace {

#define SHARDAX_VECTOR_BYTES 32

// Each uses those before it.
// clang-format off
#include "kernels/gemm/simd.h"
#include "kernels/gemm/microkernel.h"
#include "kernels/conv/microkernel.h"
#include "kernels/conv/depthwise_kernel.h"
#include "kernels/conv/winograd_tile.h"
#include "kernels/gemm/gemv.h"
#include "kernels/gemm/pack.h"
// clang-format on

}  // namespace

extern const FloatKernels<float> float32_kernels;
extern const FloatKernels<double> float64_kernels;
const FloatKernels<float> float32_kernels = table<float>;
const FloatKernels<double> float64_kernels = table<double>;

}  // namespace shardax::kernels::avx2

SHARDAX_END_TARGET
#endif
