// codegen/quotients.h - divisions of integers in vector programs.
#pragma once

#include "codegen/program.h"

namespace shardax::codegen {

// The program with quotients and remainders of 32-bit integers computed by way of float64, as there
// are no vector instructions that divide integers.
VectorProgram with_quotients(VectorProgram program);

}  // namespace shardax::codegen
