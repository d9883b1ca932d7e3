// kernels/gemm/amx.h - products of groups by AMX.
//
// For kernels/gemm, and for reports of what a machine uses.
#pragma once

#include "kernels/gemm/packed_dot_kernels.h"

namespace shardax::kernels {

// May this process use the instructions?
bool has_tiles();

// Null where not. S: int8, uint8, or the bits of bfloat16.
template <class S>
const GroupKernels<S, GroupSum<S>>* tile_kernels();

}  // namespace shardax::kernels
