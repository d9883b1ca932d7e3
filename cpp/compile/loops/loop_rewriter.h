// compile/loops/loop_rewriter.h - loops of a program rebuilt with other operands and results.
#pragma once

#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "compile/builder.h"
#include "ir/regions.h"

namespace shardax {

// Each chosen port twice, side by side.
std::vector<RegionPort> doubled(const std::vector<RegionPort>& ports,
                                const std::vector<bool>& chosen);

// Makes a loop again, given its operands and its description, whose regions are simplified: its
// results. None: the loop stays.
using LoopRule = FunctionRef<std::optional<Vars>(Builder& builder, const Equation& eqn,
                                                 const Vars& in, const Regions& regions)>;

// Applies the rule to each op that repeats programs with replaceable inputs and outputs. Returns
// null if no op changes.
ProgramPtr with_loops(const Program& program, LoopRule rule);

}  // namespace shardax
