// compile/lower/scalar_step.h - loops and branches over few numbers as one piece of machine code.
#pragma once

#include <memory>

#include "compile/plan.h"
#include "ir/program.h"

namespace shardax {

// Null where compile/scalar/scalarize.h does not take the equation, or there is no machine code.
// `scalars`: the values of operands that are constant scalars, null for others.
std::unique_ptr<Step> scalar_step(const Equation& eqn, const std::vector<Window>& in,
                                  const std::vector<ArrayPtr>& scalars,
                                  const std::vector<Window>& out);

}  // namespace shardax
