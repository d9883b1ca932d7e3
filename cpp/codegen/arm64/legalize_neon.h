// codegen/arm64/legalize_neon.h - nodes without a NEON instruction expanded into those that have
// one.
#pragma once

#include "codegen/vector/program.h"

namespace shardax::codegen {

// The program for registers of 16 bytes (vector/legalizer.h). Conversions between widths become two
// steps with one rounding; the number of a table is looked up by its bytes, of which table_lookup
// then has the places.
VectorProgram legalize_neon(const VectorProgram& program);

}  // namespace shardax::codegen
