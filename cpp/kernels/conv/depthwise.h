// kernels/conv/depthwise.h - depthwise convolutions, and the gradients of their kernels.
//
// Each convolution of the batch has one feature and few steps. A product's packing and tiles would
// take longer than the multiply-adds. An output is made in registers, whose lanes go along a row of
// outputs or, if the channels of a place are adjacent, along channels.
//
// The gradient of such a kernel has few outputs of many steps. rhs is an image, whose places are
// multiplied with those of a window of lhs. Vectors go along rows of that image, or along channels.
//
// Bits: an output is the chain of its steps in row-major order (channel, taps). The gradient of a
// kernel consists of chains of at most 256 steps, or of the places of a row. The order in which
// they are added up depends on the shape, and on the way of the lanes.
#pragma once

#include "kernels/conv/convolution.h"

namespace shardax::kernels {

// Are these shapes computed so?
bool is_depthwise(const ConvArgs& p);
void convolution_depthwise(const ConvArgs& p, ParallelFor parallel_for);

// Is it the gradient of such a kernel?
bool is_depthwise_kernel(const ConvArgs& p);
void convolution_depthwise_kernel(const ConvArgs& p, ParallelFor parallel_for);

}  // namespace shardax::kernels
