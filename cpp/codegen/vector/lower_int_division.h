// codegen/vector/lower_int_division.h - integer divisions lowered to float64 arithmetic.
#pragma once

#include "codegen/vector/program.h"

namespace shardax::codegen {

// The program with quotients and remainders of 32-bit integers computed by way of float64, as there
// are no vector instructions that divide integers. `saturates`: the machine converts 2^31 to the
// largest int32; others give the smallest, which INT_MIN / -1 is.
VectorProgram lower_int_division(VectorProgram program, bool saturates);

// Simplifies a selection, comparison or conjunction from a division that rounds down, by the signs
// of its operands. -1: there is no simpler node. In simplify_floor_div.cpp.
int by_signs(VectorProgram& program, const Node& node);

}  // namespace shardax::codegen
