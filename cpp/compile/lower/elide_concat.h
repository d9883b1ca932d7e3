// compile/lower/elide_concat.h - operands of a concatenation written straight into its result.
//
// Where a loop makes an operand of a concatenation, or what is padded, and nothing else needs it,
// the loop writes it where it belongs in the whole, and no step copies it.
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

// Where each operand of a pad or concatenation lies in `whole`, the memory of its result.
std::vector<Window> part_windows(const Program& program, const Equation& eqn, const Window& whole);
// What a pad fills of its result.
std::vector<Window> filled_windows(const Equation& eqn, const Window& whole);

}  // namespace shardax
