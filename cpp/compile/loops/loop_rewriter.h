// compile/loops/loop_rewriter.h - loops of a program rebuilt with other operands and results.
#pragma once

#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "compile/builder.h"
#include "ir/regions.h"

namespace shardax {

// Each chosen port twice, side by side.
std::vector<Port> doubled(const std::vector<Port>& ports, const std::vector<bool>& chosen);

// Makes a loop again, given its operands and its description, whose bodies are simplified: its
// results. None: the loop stays.
using LoopRule = FunctionRef<std::optional<Vars>(Builder& builder, const Equation& eqn,
                                                 const Vars& in, const Bodies& bodies)>;

// The program with the rule applied to each op that repeats programs which may be replaced by
// others of other inputs and outputs; null where all stay.
ProgramPtr with_loops(const Program& program, LoopRule rule);

}  // namespace shardax
