// compile/loops/loop_rewriter.cpp - the walk over a program's loops.
#include "compile/loops/loop_rewriter.h"

#include <algorithm>

#include "compile/pipeline.h"

namespace shardax {
namespace {

bool is_open_loop(const Regions& regions) {
  return (regions.runs == ExecutionKind::counted || regions.runs == ExecutionKind::looped) &&
         !regions.fixed && !regions.devices;
}

}  // namespace

std::vector<RegionPort> doubled(const std::vector<RegionPort>& ports,
                                const std::vector<bool>& chosen) {
  std::vector<RegionPort> out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    out.push_back(ports[i]);
    if (!chosen[i]) continue;
    out.push_back(ports[i]);
    out.back().source = -1;
  }
  return out;
}

ProgramPtr with_loops(const Program& program, LoopRule rule) {
  const auto has_regions = [](const Equation& eqn) {
    return eqn.op->regions && eqn.op->with_regions;
  };
  if (std::none_of(program.equations.begin(), program.equations.end(), has_regions)) return {};
  Builder builder(program);
  bool changed = false;
  const auto step = [&](const Equation& eqn, const Vars& in) -> Vars {
    if (has_regions(eqn)) {
      Regions regions = regions_of(*eqn.op, eqn.params);
      if (is_open_loop(regions)) {
        for (ProgramPtr& body : regions.programs) body = rewritten_body(body);
        if (const std::optional<Vars> made = rule(builder, eqn, in, regions)) {
          changed = true;
          return *made;
        }
      }
    }
    return builder.emit(*eqn.op, eqn.params, in, eqn.location);
  };
  const MutableProgram made = emit_again(program, builder, step);
  return changed ? ProgramPtr(made) : ProgramPtr();
}

}  // namespace shardax
