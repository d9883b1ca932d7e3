// analysis/cost.h - cost model: operations and bytes of a program, from its types.
#pragma once

#include "ir/program.h"

namespace shardax {

// Counts are XLA's. A product of m x k and k x n takes 2 m n k operations, an elementwise op one
// per element. A sum takes one for each element but the first of each result. Elementwise ops that
// are not defined for integers (exp, sin ...) are counted apart. Bytes: operands and results of
// every equation, each read or written once. Branches count as the dearest one; the body of a while
// loop counts once.
struct Cost {
  double flops = 0;
  double transcendentals = 0;
  double bytes = 0;
};
Cost cost_of(const Program& program);
// The cost of one equation, with the programs that it carries.
Cost cost_of(const Program& program, const Equation& eqn);
// The cost of an op that carries none.
Cost cost_of(const Op& op, const Params& params, const Types& in, const Types& out);

}  // namespace shardax
