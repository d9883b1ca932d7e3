// control/checkpoint_saved.cpp - ops that give what their programs keep, and take it again.
#include "control/checkpoint_saved.h"

#include <optional>

#include "control/branch_residuals.h"
#include "ir/regions.h"
#include "trace/trace.h"

namespace shardax {
namespace {

SavingCall keep_of_choice(const Op& op, const Params& params, Regions regions,
                          const SavingBody& body) {
  std::vector<SavingProgram> parts;
  BranchResiduals kept;
  for (const ProgramPtr& branch : regions.programs) {
    parts.push_back(body(branch));
    kept.add(parts.back().kept);
  }
  Regions forward = regions, again = regions;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Program& branch = *regions.programs[k];
    forward.programs[k] = kept.giving(parts[k].forward, k, branch.outputs.size());
    again.programs[k] = kept.taking(parts[k].again, k, branch.inputs.size());
  }
  forward.results.resize(regions.results.size() + kept.types.size());
  again.operands.resize(regions.operands.size() + kept.types.size());
  return {op.with_regions(params, forward), op.with_regions(params, again), kept.types};
}

}  // namespace

bool can_keep(const Op& op, const Params& params) {
  if (!op.regions) return false;
  const Regions regions = op.regions(params);
  return !regions.fixed && regions.runs != ExecutionKind::once &&
         regions.runs != ExecutionKind::looped && regions.runs != ExecutionKind::mesh;
}

SavingCall keep(const Op& op, const Params& params, const SavingBody& body) {
  Regions forward = regions_of(op, params);
  if (forward.runs == ExecutionKind::one_of) return keep_of_choice(op, params, forward, body);
  Regions again = forward;
  SavingProgram run = [&] {
    std::optional<AxisScope> scope;
    if (forward.runs == ExecutionKind::mapped)
      scope.emplace(BoundAxis{forward.axis, forward.length, true});
    return body(forward.programs[0]);
  }();
  const RegionPort stacked{PortKind::sliced, 0};
  for (Type& type : run.kept) {
    type = type_at(forward, stacked, std::move(type));
    forward.results.push_back(stacked);
    again.operands.push_back(stacked);
  }
  forward.programs = {run.forward};
  again.programs = {run.again};
  return {op.with_regions(params, forward), op.with_regions(params, again), run.kept};
}

}  // namespace shardax
