// transform/dce.cpp - dead code elimination, backwards from the wanted outputs.
#include "transform/dce.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "base/stack.h"
#include "ir/regions.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

using Mask = std::vector<bool>;

// An op with smaller programs: the operands and the results that are left.
struct Pruned {
  Params params;
  Mask operands;
  Mask results;
};

Mask at(const Mask& mask, const std::vector<std::size_t>& positions) {
  Mask out;
  for (const std::size_t i : positions) out.push_back(mask[i]);
  return out;
}

// Goes round until no carry turns out to be needed whose result was not: they stay or go together.
Pruned pruned(const Op& op, const Params& params, const Mask& wanted) {
  Regions regions = regions_of(op, params);
  const std::size_t count = regions.programs.size();
  const std::vector<std::size_t> carried = regions.operands_of(PortKind::carried);
  const std::vector<std::size_t> carried_results = regions.results_of(PortKind::carried);
  Mask operands(regions.operands.size(), false), results = wanted;
  for (const std::size_t i : regions.operands_of(PortKind::choice)) operands[i] = true;
  const auto dce_body = [&](std::size_t k) {
    const Mask keep = at(operands, regions.taken_by(k));
    return dce_program(regions.programs[k], regions.gives_results(k) ? results : Mask{true}, &keep);
  };
  std::vector<DceProgram> smaller(count);
  for (bool grown = true; grown;) {
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (results[carried_results[i]]) operands[carried[i]] = true;
    }
    for (std::size_t k = 0; k < count; ++k) {
      smaller[k] = dce_body(k);
      const std::vector<std::size_t> taken = regions.taken_by(k);
      for (std::size_t i = 0; i < taken.size(); ++i) {
        if (smaller[k].inputs[i]) operands[taken[i]] = true;
      }
    }
    grown = false;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (operands[carried[i]] && !results[carried_results[i]])
        results[carried_results[i]] = grown = true;
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (smaller[k].inputs != at(operands, regions.taken_by(k))) smaller[k] = dce_body(k);
    regions.programs[k] = smaller[k].program;
  }
  regions.operands = select(regions.operands, operands);
  regions.results = select(regions.results, results);
  return {op.with_regions(params, regions), operands, results};
}

// A call whose rules take all operands: it loses results only.
Pruned without_results(const Op& op, const Params& params, const Mask& wanted) {
  Regions regions = regions_of(op, params);
  const Mask every(regions.operands.size(), true);
  regions.programs[0] = dce_program(regions.programs[0], wanted, &every).program;
  regions.results = select(regions.results, wanted);
  return {op.with_regions(params, regions), every, wanted};
}

// The equation, without the unused parts of the programs that it carries.
Equation pruned(const Equation& eqn, const Mask& wanted) {
  if (!eqn.op->regions) return eqn;
  const Regions regions = eqn.op->regions(eqn.params);
  if (regions.fixed && (!regions.sheds_results || all(wanted) || !any(wanted))) return eqn;
  Pruned smaller = regions.fixed ? without_results(*eqn.op, eqn.params, wanted)
                                 : pruned(*eqn.op, eqn.params, wanted);
  return {eqn.op,
          std::move(smaller.params),
          select(eqn.inputs, smaller.operands),
          select(eqn.outputs, smaller.results),
          eqn.location,
          eqn.names};
}

bool same(const Equation& a, const Equation& b) {
  return a.inputs == b.inputs && a.outputs == b.outputs && a.params == b.params;
}

DceProgram dce(const ProgramPtr& program, const Mask& wanted, const Mask* keep) {
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
  DceProgram out;
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

}  // namespace

// The result is cached: programs within programs are met again for each that they are in.
DceProgram dce_program(const ProgramPtr& program, const std::vector<bool>& wanted,
                       const std::vector<bool>* keep) {
  const std::string key =
      keep ? mask_key(mask_key("pruned", wanted), *keep) : mask_key("pruned", wanted);
  // Without a program where it stays as it is: it would hold itself.
  const DceProgram& left = *program->derived<DceProgram>(key, [&] {
    auto made = std::make_shared<DceProgram>(dce(program, wanted, keep));
    if (made->program == program) made->program = {};
    return made;
  });
  return {left.program ? left.program : program, left.inputs};
}

}  // namespace shardax
