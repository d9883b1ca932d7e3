// kernels/conv/packed.h - convolutions of bfloat16 by the instructions of AMX or AVX-512 BF16.
//
// A block of outputs is a product. Its rows are outputs, whose elements are copied out of a window
// of lhs, its columns features. The elements of a sum come tap by tap, the channels of each side by
// side. Gradients of kernels have few outputs of many taps: there they come channel by channel, and
// the taps of a line side by side.
//
// In small images, outputs that see the same taps are a product of their own, without the
// taps that meet padding. Others multiply its zeros.
//
// Bits: with AMX, sums are those of products (gemm/amx.cpp), made of 32 elements at a time. With
// AVX-512, they are chains of 512 elements, the second of each pair first; in small images each
// line of taps has its own. Gradients of kernels add them up by runs of elements. All this depends
// on the shape only. Denormal numbers count as zero.
#pragma once

#include "kernels/conv/convolution.h"

namespace shardax::kernels {

// Has this machine the instructions, and do they pay for these shapes?
bool is_packed(const ConvArgs& p);
void convolution_packed(const ConvArgs& p, ParallelFor parallel_for);

}  // namespace shardax::kernels
