// compile/lower/elide_concat.h - operands of a concatenation written straight into its result.
//
// A loop can make an operand of a concatenation or a pad that nothing else needs. Such a loop
// writes it straight into the result, and no step copies it.
#pragma once

#include <unordered_map>

#include "compile/lower/liveness.h"
#include "compile/plan.h"

namespace shardax {

// Do enough elements of a part lie side by side in the whole? A loop that writes shorter rows is
// slower than a copy.
bool has_long_rows(const Shape& part, const Shape& whole);

// For each variable that is such a part: the equation that puts the whole together. `uses`: how
// often each variable is used.
std::unordered_map<Var, int> elided_concats(const Program& program,
                                            const std::vector<FusionGroup>& units,
                                            const std::vector<int>& uses);

// The window of each operand of a pad or concatenation in `whole`, the memory of its result.
std::vector<Window> part_windows(const Program& program, const Equation& eqn, const Window& whole);
// The windows of the result that a pad fills.
std::vector<Window> filled_windows(const Equation& eqn, const Window& whole);

}  // namespace shardax
