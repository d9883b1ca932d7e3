// kernels/conv/packed.h - convolutions of bfloat16 by the instructions of gemm/amx.h.
//
// A block of outputs is a product. Its rows are outputs, whose elements are copied out of a window
// of lhs, its columns features. The elements of a sum come tap by tap, the channels of each side by
// side. Gradients of kernels have few outputs of many taps: there they come channel by channel, and
// the taps of a line side by side.
//
// Bits: sums are those of products (gemm/amx.cpp), made of 32 elements at a time. Gradients of
// kernels add them up by runs of elements, which depend on the shape only.
#pragma once

#include "kernels/conv/convolution.h"

namespace shardax::kernels {

// Has this machine the instructions, and do they pay for these shapes?
bool is_packed(const ConvArgs& p);
void convolution_packed(const ConvArgs& p, ParallelFor parallel_for);

}  // namespace shardax::kernels
