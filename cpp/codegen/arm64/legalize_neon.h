// codegen/arm64/legalize_neon.h - nodes without a NEON instruction expanded into those that have
// one.
#pragma once

#include "codegen/vector/program.h"

namespace shardax::codegen {

// The program for registers of 16 bytes (vector/legalizer.h). Conversions between widths become two
// steps with one rounding. A number of a table is looked up byte by byte: table_lookup then has the
// positions of bytes.
VectorProgram legalize_neon(const VectorProgram& program);

}  // namespace shardax::codegen
