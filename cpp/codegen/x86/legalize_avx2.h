// codegen/x86/legalize_avx2.h - nodes without an AVX2 instruction expanded into those that have
// one.
#pragma once

#include "codegen/vector/program.h"

namespace shardax::codegen {

// The program for registers of 32 bytes that hold as many of its widest numbers as they can, others
// lane by lane in their low part. A truth value is a lane of all ones or zeros, as wide as the
// numbers that it comes from or selects. The kind `truth` is as wide as the widest numbers, truth_4
// and truth_2 are for narrower ones. Products of 64-bit integers, and conversions between them,
// unsigned integers and floats, become several nodes. With as few roundings as the C++ conversions
// of tile kernels, so with their bits.
VectorProgram legalize_avx2(const VectorProgram& program);

}  // namespace shardax::codegen
