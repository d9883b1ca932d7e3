// kernels/gemm/matmul.h - batched matrix products whose bits do not depend on how they are split.
//
// Each element of a product is computed in one fixed way. It does not depend on m, n, the batch,
// the strides, the position in the result, the number of threads or the instruction set:
//   - k is cut into blocks of `matmul_k_block`, the last one shorter;
//   - within a block, fused multiply-adds in ascending k, from zero;
//   - the sums of the blocks are added in ascending order.
// So a row computed alone, by a matrix-vector product or in a stack of products has the bits that
// it has in the whole. Of several NaNs that meet, any may come out. Blocks are independent chains,
// and so are elements. Kernels take several of them at once, and matrix-vector and dot products
// lose no speed to the fixed order.
//
// bfloat16 and float16 are widened to float32 (exactly), added up there, and rounded once. A
// complex product is the real product of (re, im) pairs along k: re += ar*br, re += -ai*bi;
// im += ar*bi, im += ai*br. Integers wrap; bool is the or of ands. Large products of bfloat16 take
// denormal numbers for zero, results too, where AVX-512 has instructions for them. With AMX, all
// products of bfloat16 do, and are added up in its order, also one for all shapes (amx.cpp).
//
// Start at matmul.cpp (types), then blocked.cpp (blocks and chunks) and prepacked.h (large
// products). Next are microkernel.h (tiles of accumulators in registers), gemv.h (matrix-vector
// products), pack.h (operands rearranged for them) and packed_dot.cpp (8 and 16 bits).
#pragma once

#include <cstdint>
#include <memory>

#include "array/dtype.h"
#include "base/function_ref.h"

namespace shardax::kernels {

// Spreads chunks over threads: calls body(0), ..., body(chunks - 1), in any order.
using ParallelFor = FunctionRef<void(std::int64_t, FunctionRef<void(std::int64_t)>)>;

inline constexpr std::int64_t matmul_k_block = 256;

// c[b, m, n] = sum over k of a[b, m, k] * b[b, k, n]. Strides are in elements and may be negative;
// those of a and b may be 0. Elements of c are distinct and overlap neither operand. out_dtype is
// dtype or a wider type of its class: any floats for floats, integers for integers, complex for
// complex, bool for bool. Integer operands are converted first, so that the sum wraps at out_dtype.
struct MatmulArgs {
  DType dtype;
  DType out_dtype;
  std::int64_t batch, m, n, k;
  const void* a;
  std::int64_t a_batch, a_m, a_k;
  const void* b;
  std::int64_t b_batch, b_k, b_n;
  void* c;
  std::int64_t c_batch, c_m, c_n;
  // Not 0: columns of b lie in whole panels of matmul_panel_columns, so many elements apart; b_n is
  // 1 and b_k a panel's columns. Only for products of floats of one dtype.
  std::int64_t b_panel = 0;
  // The product is added to c, each element when it is complete. Only if matmul_adds allows it.
  bool adds = false;
};

// The number of columns of b that large products of floats read side by side. They copy b into
// panels of so many columns, one after the other, unless it is in panels already. 0: products of
// that dtype do not.
std::int64_t matmul_panel_columns(DType dtype);

// Can this product be added to c, with the bits of an addition after it? Floats of one k-block.
bool matmul_adds(const MatmulArgs& args);

// Writes all of c; zeros where k is 0. Chunks depend on the shape only and take at least some 50 us
// each; small products never call parallel_for nor allocate. Large ones take up to 32 MB while they
// run. Any thread; chunks use thread-local scratch of at most 1.5 MB a thread.
void matmul(const MatmulArgs& args, ParallelFor parallel_for);

// A product of floats that is one call of a kernel. It holds all that the call needs, except the
// operands' addresses. For 20 x 20 numbers and a vector, preparing the call takes twice as long as
// the kernel.
class SmallProduct {
 public:
  // The same bits as matmul's.
  virtual void run(const void* a, const void* b, void* c) const = 0;
  virtual ~SmallProduct() = default;
};
// Null where `args`, whose addresses are not read, are no such product.
std::unique_ptr<const SmallProduct> small_product(const MatmulArgs& args);

}  // namespace shardax::kernels
