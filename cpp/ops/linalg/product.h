// ops/linalg/product.h - a dot_general of operands in memory as a matrix product.
#pragma once

#include <optional>

#include "ir/op.h"
#include "kernels/gemm/matmul.h"
#include "ops/ops.h"

namespace shardax::ops {

DotDims dims_of(const Params& dot_general);

// Dimensions that are neither contracted nor of the batch, in their order.
Ints free_dims(std::size_t rank, const Ints& contract, const Ints& batch);

// The roles of the dimensions of both operands.
struct ProductDims {
  ProductDims(const Params& dot_general, std::size_t lhs_rank, std::size_t rhs_rank);
  DotDims dims;
  Ints lhs_free, rhs_free;
};

// The product of operands that are seen so, wherever they lie: all but addresses. None where
// dimensions that are used alike do not walk memory like one, so that an operand must be copied.
std::optional<kernels::MatmulArgs> matmul_of(const ProductDims& dims, const View& lhs,
                                             const View& rhs, DType out);

// Writes all of `out`, which is row-major.
void multiply(const ProductDims& dims, View lhs, View rhs, const View& out);

}  // namespace shardax::ops
