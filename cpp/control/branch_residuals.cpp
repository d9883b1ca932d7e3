// control/branch_residuals.cpp - branches with more inputs or outputs.
#include "control/branch_residuals.h"

#include "base/lists.h"
#include "ops/ops.h"
#include "trace/stage.h"

namespace shardax {

void BranchResiduals::add(const Types& own) {
  first.push_back(types.size());
  types.insert(types.end(), own.begin(), own.end());
}

std::size_t BranchResiduals::own(std::size_t branch) const {
  return (branch + 1 < first.size() ? first[branch + 1] : types.size()) - first[branch];
}

ProgramPtr BranchResiduals::giving(const ProgramPtr& program, std::size_t branch,
                                   std::size_t outputs) const {
  return stage_closed(
      program->input_types(),
      [&](const Values& v) {
        const Values results = evaluate(*program, v);
        Values out = part(results, 0, outputs);
        for (std::size_t i = 0; i < types.size(); ++i) {
          const bool mine = i >= first[branch] && i < first[branch] + own(branch);
          out.push_back(mine ? results[outputs + i - first[branch]] : ops::zeros(types[i]));
        }
        return out;
      },
      program->name);
}

ProgramPtr BranchResiduals::taking(const ProgramPtr& program, std::size_t branch,
                                   std::size_t at) const {
  Types in = program->input_types();
  const auto begin = in.begin() + static_cast<std::ptrdiff_t>(at);
  in.insert(in.erase(begin, begin + static_cast<std::ptrdiff_t>(own(branch))), types.begin(),
            types.end());
  return stage_closed(
      in,
      [&](const Values& v) {
        const std::size_t rest = at + types.size();
        return evaluate(*program,
                        joined(joined(part(v, 0, at), part(v, at + first[branch], own(branch))),
                               part(v, rest, v.size() - rest)));
      },
      program->name);
}

}  // namespace shardax
