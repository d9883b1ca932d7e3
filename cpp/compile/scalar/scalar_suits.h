// compile/scalar/scalar_suits.h - the loops and branches that are worth a scalar program.
#pragma once

#include "compile/scalar/scalarize.h"

namespace shardax {

// Does it call the host, or a function of the host's?
bool calls_host(const Equation& eqn);

// Could the equations be written, as far as they and the sizes of arrays tell? Large arrays are
// read, or carried and written; where the program is one of registers, they are few enough.
// `width`: of the numbers in lists of registers; 0: there are none.
bool suits(const Regions& regions, int width);

// Is the program that was written faster than the steps in its place?
bool is_worth_it(const Regions& regions, int width, const ScalarLoop& loop);

}  // namespace shardax
