// compile/simplify/agree_on_branches.cpp - comparing predicates between processes.
#include "compile/simplify/agree_on_branches.h"

#include <algorithm>

#include "array/process_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "compile/passes.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"
#include "ops/collectives/process_ops.h"
#include "ops/ops.h"
#include "runtime/processes.h"
#include "trace/stage.h"

namespace shardax {
namespace {

AxisSet axes_between(const Equation& eqn) { return process_axes(ops::collective_axes(eqn.params)); }

// Does it depend on which process this is, or on what a process does besides?
bool tells_processes_apart(const Equation& eqn) {
  if (!eqn.op->effect.empty() || eqn.op == &core_ops().process_index) return true;
  return eqn.op->kind == Kind::collective && !axes_between(eqn).empty();
}

bool is_sum_of_all(const Equation& eqn) {
  if (ops::computation_of(*eqn.op).empty() && eqn.op != &core_ops().process_all_reduce)
    return false;
  std::int64_t size = 1;
  for (const AxisName axis : axes_between(eqn)) size *= process_axis_size(axis);
  return size == runtime::process_count();
}

}  // namespace

std::vector<bool> same_in_processes(const Program& program, const std::vector<bool>& inputs) {
  std::vector<bool> same(program.types.size(), false);
  for (std::size_t i = 0; i < inputs.size(); ++i) same[index(program.inputs[i])] = inputs[i];
  for (const Constant& c : program.constants) same[index(c.var)] = true;
  for (const Equation& eqn : program.equations) {
    const bool all = std::ranges::all_of(eqn.inputs, [&](Var v) { return same[index(v)]; });
    const bool shared = is_sum_of_all(eqn) || (all && !any_equation(eqn, tells_processes_apart));
    for (const Var v : eqn.outputs) same[index(v)] = shared;
  }
  return same;
}

namespace {

// The flags of the operands or inputs at `positions`.
std::vector<bool> at(const std::vector<bool>& flags, const std::vector<std::size_t>& positions) {
  std::vector<bool> out;
  for (const std::size_t i : positions) out.push_back(flags[i]);
  return out;
}

// Is the condition of a loop the same each time? A carry agrees while its successor does.
bool loops_alike(const Regions& regions, std::vector<bool> operands) {
  const Program &cond = *regions.programs[0], &body = *regions.programs[1];
  const std::vector<std::size_t> carried = regions.operands_of(PortKind::carried);
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> same = same_in_processes(body, at(operands, regions.taken_by(1)));
    for (std::size_t n = 0; n < carried.size(); ++n) {
      if (!operands[carried[n]] || same[index(body.outputs[n])]) continue;
      operands[carried[n]] = false;
      changed = true;
    }
  }
  const std::vector<bool> same = same_in_processes(cond, at(operands, regions.taken_by(0)));
  return same[index(cond.outputs[0])];
}

// The first message inside.
Equation message_in(const Regions& regions) {
  Equation found{};
  for (const ProgramPtr& program : regions.programs) {
    for (const Equation& eqn : program->equations) {
      const bool here = any_equation(eqn, [&](const Equation& e) {
        if (ops::is_between_processes(e)) found = e;
        return ops::is_between_processes(e);
      });
      if (here) return found;
    }
  }
  throw InternalError("agree_on_branches: no message is inside");
}

Value agreed(const Value& choice, const Equation& message, std::string_view construct) {
  const std::string place = message.location ? " at " + to_string(*message.location) : "";
  return ops::process_agree(choice, axes_between(message), concat(message.op->name, place),
                            construct);
}

}  // namespace

void agree_on_branches(const std::vector<bool>& same, Regions& regions, Values& in) {
  if (regions.runs == ExecutionKind::one_of) {
    if (!same[0]) in[0] = agreed(in[0], message_in(regions), "cond");
    return;
  }
  if (regions.runs != ExecutionKind::looped || loops_alike(regions, same)) return;
  const Equation message = message_in(regions);
  const ProgramPtr cond = regions.programs[0];
  regions.programs[0] = stage_closed(
      cond->input_types(),
      [&](const Values& v) -> Values {
        const Value goes_on = ops::convert(evaluate(*cond, v)[0], DType::int32);
        return {ops::convert(agreed(goes_on, message, "while_loop"), DType::boolean)};
      },
      cond->name);
}

}  // namespace shardax
