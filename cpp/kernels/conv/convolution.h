// kernels/conv/convolution.h - convolutions: products of a kernel with the windows of an operand.
//
// out[b, n, o, t] = sum over c and w of
//     lhs[b, n, c, (t * stride + w * rhs_dilation - low) / lhs_dilation] * rhs[b, o, c, w]
// Here t and w have a component for each spatial dimension. Places outside of lhs, and those that
// the division does not hit, count as zero. The three convolutions of a training step (forward, and
// the gradients of either operand) and grouped ones are all of this form, with other strides.
//
// Patches are never written out. Kernels read them in place, or from a padded copy of the part of
// lhs that a block of the result sees. In small images, outputs that see the same taps leave out
// those that meet padding. Places between elements that are `lhs_dilation` apart are
// not multiplied: each residue of t has its own list of taps.
//
// Bits: an element is a sum of chains of fused multiply-adds, one for every 256 of the pairs (c, w)
// in row-major order. The chains are added up in ascending order by runs of 8 to 32, and so are the
// runs. With few features and many taps, each place along the last dimension has chains of its own.
// Neither depends on threads, strides or position. 16-bit floats are added up in float32 and
// rounded once. Integers wrap; bool is the or of ands. Some shapes have sums of their own: 3 x 3
// taps (winograd.h), one feature and few steps (depthwise.h), bfloat16 that is not
// widened (packed.h). For kernels with few features, gradients exchange the operands.
//
// Start at convolution.cpp (the choice of a way), then tiling.h (blocks of a product of floats),
// compute.h (one block) and block.h (its elements). direct.cpp serves any dtype and rank.
#pragma once

#include "array/type.h"
#include "base/small_vector.h"
#include "kernels/gemm/matmul.h"

namespace shardax::kernels {

// A dimension of the result or of the sum: its size, and strides in elements (0: not along it).
struct ConvAxis {
  std::int64_t size = 1, lhs = 0, rhs = 0, out = 0;
};
struct ConvSpace {
  std::int64_t lhs_size, rhs_size, out_size;
  std::int64_t lhs, rhs, out;  // strides in memory
  std::int64_t stride = 1, low = 0, lhs_dilation = 1, rhs_dilation = 1;
};

struct ConvArgs {
  DType dtype, out_dtype;  // as for MatmulArgs
  const std::byte* lhs;
  const std::byte* rhs;
  std::byte* out;
  SmallVector<ConvAxis, 4> batch;  // convolutions of their own; at most one operand may lack each
  ConvAxis n;                      // of lhs and out
  ConvAxis o;                      // of rhs and out
  ConvAxis c;                      // of lhs and rhs: summed over
  SmallVector<ConvSpace, 3> space;
  bool highest_precision = false;  // sums as they are defined, not by minimal filtering
};

// The number of separate convolutions, and the places of the operands and the result of each.
inline std::int64_t batch_size(const ConvArgs& p) {
  std::int64_t size = 1;
  for (const ConvAxis& b : p.batch) size *= b.size;
  return size;
}
inline std::int64_t batch_offset(const ConvArgs& p, std::int64_t b, std::int64_t ConvAxis::*which) {
  std::int64_t out = 0;
  for (std::size_t d = p.batch.size(); d-- > 0; b /= p.batch[d].size)
    out += b % p.batch[d].size * (p.batch[d].*which);
  return out;
}

// Writes all of out. Chunks depend on the shape only. Any thread; chunks keep thread-local scratch.
void convolution(const ConvArgs& args, ParallelFor parallel_for);

// Are convolutions of bfloat16 with so many features, and steps to a sum, faster than those of
// float32 on this machine? Then convolution() multiplies bfloat16 as it is (kernels/conv/packed.h).
bool multiplies_bfloat16(std::int64_t features, std::int64_t steps);

// The ways to compute it: floats of at most three spatial dimensions, and anything.
void convolution_float(const ConvArgs& args, ParallelFor parallel_for);
void convolution_direct(const ConvArgs& args, ParallelFor parallel_for);

// body(0), ..., body(count - 1), several to a chunk where each takes little.
void run_chunks(std::int64_t count, double nanoseconds_each, ParallelFor parallel_for,
                FunctionRef<void(std::int64_t)> body);

}  // namespace shardax::kernels
