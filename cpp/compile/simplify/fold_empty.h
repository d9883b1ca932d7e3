// compile/simplify/fold_empty.h - folding of arrays without elements.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// Removes operands without elements, so that no other pass and no kernel meets one:
//   results without elements                            broadcasts of a number
//   a reduction, a product of none                      its identity, repeated
//   parts of a concatenation, updates without elements  left out
// Nothing where the op has effects, or its results depend on other operands.
std::optional<Vars> fold_empty(const PatternContext& m);

// A loop of no turns gives its carries as they are, and stacks of nothing.
std::optional<Vars> fold_no_turns(Builder& builder, const Equation& loop, const Regions& regions,
                                  const Vars& in);

}  // namespace shardax
