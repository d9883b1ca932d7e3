// codegen/scalar/range_analysis.h - integer ranges from constants and loop bounds.
#pragma once

#include "codegen/scalar/program.h"

namespace shardax::codegen {

// Comparisons whose outcome is known become constants, selections by them what they select: a
// counter lies between where it starts and where its loop ends, so that an index made of it need
// not be clipped, nor counted from the end.
void fold_ranges(ScalarProgram& program);

}  // namespace shardax::codegen
