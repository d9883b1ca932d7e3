// compile/lower/lower.h - fused units become steps over planned memory.
#pragma once

#include <optional>

#include "base/function_ref.h"
#include "compile/fusion/fuse.h"
#include "compile/pipeline.h"

namespace shardax {

// `results`: the types of the outputs before any pass. `placement`, where given, is filled.
PlanPtr lower(const ProgramPtr& program, const std::vector<FusionGroup>& units,
              const CompileOptions& options, const Types& results,
              AssignedBuffers* placement = nullptr);

// Makes the step of an op that carries programs; operands and results are row-major, but for large
// arrays of which a loop reads slices. `scalars`: the values of operands that are constant scalars,
// null for others. `over`: for each result the operand that it may overwrite. The function sets
// unused entries to -1, and asks `place` for the windows of results.
// compile/lower/control_steps.cpp
using PlaceOver = FunctionRef<std::vector<Window>(const std::vector<int>& over)>;
std::unique_ptr<Step> lower_control(const Equation& eqn, const std::vector<Window>& in,
                                    const std::vector<ArrayPtr>& scalars, std::vector<int> over,
                                    PlaceOver place);

// The bits of a constant 32-bit integer, also where it repeats; none of other windows.
// compile/plan.cpp
std::optional<std::uint64_t> known_integer(const Plan& plan, const Window& window);

// The scalar that a window shows, where it is a constant; null for other windows. A window on a
// constant array may show one element.
ArrayPtr known_scalar(const Plan& plan, const Window& window);

// A tile loop for the equations of one unit. `windows` gives where each variable lies, for those
// that the loop reads from memory or writes to it.
std::unique_ptr<Step> lower_loop(const Program& program, const FusionGroup& unit,
                                 const std::vector<const Window*>& windows, const Plan& plan,
                                 bool often);

}  // namespace shardax
