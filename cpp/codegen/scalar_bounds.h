// codegen/scalar_bounds.h - what loops and constants tell about the integers of a scalar program.
#pragma once

#include "codegen/scalar_program.h"

namespace shardax::codegen {

// Comparisons whose outcome is known become constants, selections by them what they select: a
// counter lies between where it starts and where its loop ends, so that an index made of it need
// not be clipped, nor counted from the end.
void fold_known(ScalarProgram& program);

}  // namespace shardax::codegen
