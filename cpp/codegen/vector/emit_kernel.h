// codegen/vector/emit_kernel.h - kernels of ops recorded as vector programs.
#pragma once

#include <cstdint>

namespace shardax::codegen {

class VectorProgram;

// Writes an op's nodes for operands `in` (and the constant of its MapKernel); gives the result's.
using EmitKernel = int (*)(VectorProgram& program, const int* in, std::int64_t extra);

}  // namespace shardax::codegen
