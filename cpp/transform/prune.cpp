// transform/prune.cpp - dead code elimination, backwards from the wanted outputs.
#include "transform/prune.h"

#include <algorithm>

#include "base/lists.h"
#include "base/stack.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

std::size_t index(Var v) { return static_cast<std::size_t>(v); }

// The equation, without what is not needed of the program that it carries.
Equation pruned(const Equation& eqn, const std::vector<bool>& wanted) {
  if (!eqn.op->prune) return eqn;
  Pruned smaller = eqn.op->prune(eqn.params, wanted);
  return {eqn.op, std::move(smaller.params), select(eqn.inputs, smaller.inputs),
          select(eqn.outputs, smaller.outputs), eqn.location};
}

bool same(const Equation& a, const Equation& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.params == b.params;
}

}  // namespace

PrunedProgram prune_program(const ProgramPtr& program, const std::vector<bool>& wanted,
                            const std::vector<bool>* keep) {
  check_stack("a program within programs");
  std::vector<bool> used(program->types.size(), false);
  const auto mark = [&](Var v) { used[index(v)] = true; };
  const std::vector<Var> outputs = select(program->outputs, wanted);
  for (Var v : outputs) mark(v);
  std::vector<Equation> equations;
  bool changed = outputs.size() != program->outputs.size();
  for (auto eqn = program->equations.rbegin(); eqn != program->equations.rend(); ++eqn) {
    runtime::poll_caller();
    std::vector<bool> results;
    for (Var v : eqn->outputs) results.push_back(used[index(v)]);
    const bool needed = has_effects(*eqn) || any(results);
    if (!needed) {
      changed = true;
      continue;
    }
    equations.push_back(pruned(*eqn, results));
    changed = changed || !same(equations.back(), *eqn);
    for (Var v : equations.back().inputs) mark(v);
  }
  PrunedProgram out;
  for (std::size_t i = 0; i < program->inputs.size(); ++i)
    out.inputs.push_back(used[index(program->inputs[i])] || (keep && (*keep)[i]));
  const bool all_constants = std::all_of(program->constants.begin(), program->constants.end(),
                                         [&](const Constant& c) { return used[index(c.var)]; });
  if (!changed && all_constants && all(out.inputs)) {
    out.program = program;
    return out;
  }
  std::reverse(equations.begin(), equations.end());
  MutableProgram smaller = copy_of(*program);
  smaller->equations = std::move(equations);
  smaller->inputs = select(program->inputs, out.inputs);
  smaller->outputs = outputs;
  std::erase_if(smaller->constants, [&](const Constant& c) { return !used[index(c.var)]; });
  out.program = smaller;
  return out;
}

PrunedProgram prune_loop(const ProgramPtr& body, std::size_t first, std::size_t carry,
                         std::vector<bool>& wanted) {
  for (;;) {
    std::vector<bool> keep(body->inputs.size(), false);
    for (std::size_t i = 0; i < carry; ++i) keep[first + i] = wanted[i];
    PrunedProgram out = prune_program(body, wanted, &keep);
    bool grown = false;
    for (std::size_t i = 0; i < carry; ++i) {
      if (out.inputs[first + i] && !wanted[i]) wanted[i] = grown = true;
    }
    if (!grown) return out;
  }
}

Pruned prune_call(const Params& params, const std::vector<bool>& wanted) {
  const PrunedProgram body = prune_program(params.program("jaxpr"), wanted);
  return {params.with("jaxpr", body.program), body.inputs, wanted};
}

}  // namespace shardax
