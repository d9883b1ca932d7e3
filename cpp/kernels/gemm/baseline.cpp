// kernels/gemm/baseline.cpp - the inner kernels of the float product for any machine.
//
// AArch64's have NEON. On x86-64, without an fma instruction, each step calls the C library's,
// which is slow but has the same bits.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "array/half.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"

#if SHARDAX_AARCH64
#include <arm_neon.h>
#endif

namespace shardax::kernels::baseline {
namespace {

#define SHARDAX_VECTOR_BYTES 16

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

}  // namespace shardax::kernels::baseline
