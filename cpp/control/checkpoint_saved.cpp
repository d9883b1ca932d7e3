// control/checkpoint_saved.cpp - ops that give what their programs keep, and take it again.
#include "control/checkpoint_saved.h"

#include <optional>

#include "control/branch_residuals.h"
#include "ir/regions.h"
#include "trace/trace.h"

namespace shardax {
namespace {

KeepingCall keep_of_choice(const Op& op, const Params& params, Bodies bodies,
                           const KeepingBody& body) {
  std::vector<KeepingProgram> parts;
  Handed kept;
  for (const ProgramPtr& branch : bodies.programs) {
    parts.push_back(body(branch));
    kept.add(parts.back().kept);
  }
  Bodies forward = bodies, again = bodies;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Program& branch = *bodies.programs[k];
    forward.programs[k] = kept.giving(parts[k].forward, k, branch.outputs.size());
    again.programs[k] = kept.taking(parts[k].again, k, branch.inputs.size());
  }
  forward.results.resize(bodies.results.size() + kept.types.size());
  again.operands.resize(bodies.operands.size() + kept.types.size());
  return {op.with_bodies(params, forward), op.with_bodies(params, again), kept.types};
}

}  // namespace

bool can_keep(const Op& op, const Params& params) {
  if (!op.bodies) return false;
  const Bodies bodies = op.bodies(params);
  return !bodies.fixed && bodies.runs != Runs::once && bodies.runs != Runs::looped &&
         bodies.runs != Runs::grid;
}

KeepingCall keep(const Op& op, const Params& params, const KeepingBody& body) {
  Bodies forward = bodies_of(op, params);
  if (forward.runs == Runs::one_of) return keep_of_choice(op, params, forward, body);
  Bodies again = forward;
  KeepingProgram run = [&] {
    std::optional<AxisScope> scope;
    if (forward.runs == Runs::mapped) scope.emplace(BoundAxis{forward.axis, forward.length, true});
    return body(forward.programs[0]);
  }();
  const Port stacked{Flow::sliced, 0};
  for (Type& type : run.kept) {
    type = type_at(forward, stacked, std::move(type));
    forward.results.push_back(stacked);
    again.operands.push_back(stacked);
  }
  forward.programs = {run.forward};
  again.programs = {run.again};
  return {op.with_bodies(params, forward), op.with_bodies(params, again), run.kept};
}

}  // namespace shardax
