// kernels/matmul_baseline.cpp - the inner kernels of the float product for any machine.
//
// Without an fma instruction each step calls the C library's, which is slow but has the same bits.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "array/half.h"
#include "kernels/matmul_kernels.h"

namespace shardax::kernels::baseline {
namespace {

#define SHARDAX_VECTOR_BYTES 16

// Each uses those before it.
// clang-format off
#include "kernels/matmul_simd.h"
#include "kernels/matmul_tile.h"
#include "kernels/convolution_tile.h"
#include "kernels/winograd_tile.h"
#include "kernels/matmul_vector.h"
#include "kernels/matmul_pack.h"
// clang-format on

}  // namespace

extern const FloatKernels<float> float32_kernels;
extern const FloatKernels<double> float64_kernels;
const FloatKernels<float> float32_kernels = table<float>;
const FloatKernels<double> float64_kernels = table<double>;

}  // namespace shardax::kernels::baseline
