// codegen/scalar/range_analysis.h - integer ranges from constants and loop bounds.
#pragma once

#include "codegen/scalar/program.h"

namespace shardax::codegen {

// Comparisons with a known outcome become constants, and selections by them the chosen value. A
// counter lies between its start and the end of its loop. An index made of it then need not be
// clipped, nor counted from the end.
void fold_ranges(ScalarProgram& program);

}  // namespace shardax::codegen
