// kernels/gemm/avx512.cpp - the inner kernels of the float product for AVX-512.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "array/half.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"

#if SHARDAX_X86_64
#include <immintrin.h>

SHARDAX_BEGIN_TARGET("avx512f,avx2,fma,f16c")

namespace shardax::kernels::avx512 {
namespace {

#define SHARDAX_VECTOR_BYTES 64

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
extern const FloatKernels<float> float32_row_panel_kernels;
extern const FloatKernels<double> float64_row_panel_kernels;
const FloatKernels<float> float32_row_panel_kernels = table_with<float>(row_panel<float>);
const FloatKernels<double> float64_row_panel_kernels = table_with<double>(row_panel<double>);

}  // namespace shardax::kernels::avx512

SHARDAX_END_TARGET
#endif
