// compile/lower/branch_aliasing.cpp - results that branches and loops can write over their
// operands.
#include "compile/lower/branch_aliasing.h"

#include <algorithm>

#include "base/index.h"
#include "compile/pipeline.h"
#include "ir/core_ops.h"
#include "ir/regions.h"

namespace shardax {
namespace {

// The input that the equation's result `k` may be written over; -1: none.
int origin(const Program& program, const std::vector<int>& made_by, Var v) {
  for (int e = made_by[index(v)]; e >= 0; e = made_by[index(v)]) {
    const Equation& eqn = program.equations[index(e)];
    if (eqn.op->in_place || is_add(*eqn.op)) {
      v = eqn.inputs[0];
    } else if (eqn.op->regions) {
      const auto at = std::find(eqn.outputs.begin(), eqn.outputs.end(), v) - eqn.outputs.begin();
      const int operand = overwritable_operands(eqn)[index(at)];
      if (operand < 0) return -1;
      v = eqn.inputs[index(operand)];
    } else {
      return -1;
    }
  }
  const auto input = std::find(program.inputs.begin(), program.inputs.end(), v);
  return input == program.inputs.end() ? -1 : static_cast<int>(input - program.inputs.begin());
}

}  // namespace

std::vector<int> overwritable_operands(const Equation& eqn) {
  std::vector<int> out(eqn.outputs.size(), -1);
  const Regions regions = eqn.op->regions(eqn.params);
  const bool branches = regions.runs == ExecutionKind::one_of;
  if (!branches && regions.runs != ExecutionKind::counted) return out;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const RegionPort& result = regions.results[k];
    if (!branches && (result.flow != PortKind::sliced || result.axis != 0)) continue;
    int common = -1;
    for (const ProgramPtr& body : regions.programs) {
      const ProgramPtr simple = rewritten_body(body);
      const int input = origin(*simple, makers(*simple), simple->outputs[k]);
      const bool agrees = input >= 0 && (&body == &regions.programs[0] || input == common);
      common = agrees ? input : -1;
      if (!agrees) break;
    }
    if (common < 0) continue;
    const int operand = branches ? common + 1 : common;
    const RegionPort& port = regions.operands[index(operand)];
    const bool alike =
        branches ? port.flow == PortKind::whole : port.flow == PortKind::sliced && port.axis == 0;
    if (alike && std::find(out.begin(), out.end(), operand) == out.end()) out[k] = operand;
  }
  return out;
}

}  // namespace shardax
