// codegen/vector/bfloat16_fits.h - float32 of a program that bfloat16 hold, or whose NaNs they do.
//
// Rounding asks it: for numbers that fit there is nothing to round, and NaNs whose bits fit need no
// selection. Both are said of all values that a node can have.
#pragma once

#include "codegen/vector/program.h"

namespace shardax::codegen {

// Are the low 16 bits of a float32 or uint32 zero?
bool fits_bfloat16(const VectorProgram& program, int node);

// Is it the result of arithmetic, which NaNs leave quiet and with low 16 bits of zero?
bool makes_bfloat16_nans(const VectorProgram& program, int node);

}  // namespace shardax::codegen
