// kernels/gemm/few_rows.h - products of few rows of bfloat16; the other operand is read in place.
//
// Private to kernels/gemm.
#pragma once

#include "kernels/gemm/matmul.h"

namespace shardax::kernels {

// A product of few rows, or of few columns, whose other operand is contiguous along one dimension.
// False for others, and where this processor has no AVX-512 for 16 bits. Sums have the bits of
// AMX's tiles (amx.cpp).
bool matmul_few_rows(const MatmulArgs& p, ParallelFor parallel_for);

}  // namespace shardax::kernels
