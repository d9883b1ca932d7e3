// kernels/conv/winograd.h - convolutions of 3 x 3 taps by Winograd's minimal filtering.
//
// F(2 x 2, 3 x 3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016).
// The result is cut into tiles of 2 x 2, of which each sees 4 x 4 places. Maps with coefficients of
// 0, 1 and 1/2 take these places and the kernel to 16 points. A product over the channels at each
// point, and a map back, give the tile. There are 16 multiplications for each channel in place of
// 36. The gradient of the kernel is the transpose. It has the same map of the operand, the
// transposed maps of the cotangent and of the kernel, and products over the tiles.
//
// Rounding: sums have 16 rather than 9 terms for each channel, relative to the largest place that a
// tile sees. An infinite or NaN place thus makes NaN of all of its tile, not only of the outputs
// that see it. Convolutions of precision HIGHEST are summed as they are defined.
//
// Bits: an output does not depend on threads, on the batch or on the memory's layout. At each
// point, chains and blocks are those of products (kernels/gemm/matmul.h).
//
// Start at winograd.cpp (which convolutions), then winograd_forward.cpp and winograd_kernel.cpp;
// the maps are in winograd_tile.h, which is compiled for each instruction set.
#pragma once

#include "kernels/conv/convolution.h"

namespace shardax::kernels {

enum class Winograd {
  none,
  forward,  // 3 x 3 taps: the convolution and the gradient of its operand
  kernel,   // 3 x 3 outputs: the gradient of the kernel
};
// The way that pays for these shapes. It depends neither on the number of images nor on threads.
Winograd winograd_of(const ConvArgs& p);

void winograd_forward(const ConvArgs& p, ParallelFor parallel_for);
void winograd_kernel(const ConvArgs& p, ParallelFor parallel_for);

}  // namespace shardax::kernels
