// control/forwarding.cpp - finds what passes through, and binds the rest.
#include "control/forwarding.h"

#include <numeric>

#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "ir/regions.h"
#include "trace/trace.h"

namespace shardax {
namespace {

using Positions = std::vector<std::size_t>;

bool reads(const Program& program, Var v) {
  const auto has = [&](const auto& vars) {
    return std::find(vars.begin(), vars.end(), v) != vars.end();
  };
  return has(program.outputs) || std::any_of(program.equations.begin(), program.equations.end(),
                                             [&](const Equation& eqn) { return has(eqn.inputs); });
}

// The operand that output `output` of program k is, or -1.
std::int64_t handed_on(const Regions& regions, std::size_t k, std::size_t output) {
  const Program& program = *regions.programs[k];
  const auto at = std::find(program.inputs.begin(), program.inputs.end(), program.outputs[output]);
  if (at == program.inputs.end()) return -1;
  return static_cast<std::int64_t>(regions.taken_by(k)[index(at - program.inputs.begin())]);
}

// Does the condition of a loop read the operand?
bool condition_reads(const Regions& regions, std::size_t operand) {
  if (regions.runs != ExecutionKind::looped) return false;
  const Positions taken = regions.taken_by(0);
  const auto at = std::find(taken.begin(), taken.end(), operand);
  return at != taken.end() &&
         reads(*regions.programs[0], regions.programs[0]->inputs[index(at - taken.begin())]);
}

// The operand that result r equals in every run; or -1. A carry that each run keeps is its own
// operand, one that the condition reads stays, as in JAX.
std::int64_t source_of(const Regions& regions, std::size_t r) {
  std::int64_t source = -1;
  for (std::size_t k = 0; k < regions.programs.size(); ++k) {
    if (!regions.gives_results(k)) continue;
    const std::int64_t own = handed_on(regions, k, r);
    if (own < 0 || (source >= 0 && own != source)) return -1;
    source = own;
  }
  const auto operand = index(source);
  const RegionPort &from = regions.operands[operand], &to = regions.results[r];
  if (from.flow != to.flow || from.axis != to.axis) return -1;
  if (to.flow == PortKind::carried) {
    const Positions carried = regions.operands_of(PortKind::carried);
    const Positions results = regions.results_of(PortKind::carried);
    const auto nth = std::find(results.begin(), results.end(), r) - results.begin();
    if (carried[index(nth)] != operand || condition_reads(regions, operand)) return -1;
  }
  return source;
}

// The order of operands: the choice, then values that are the same in each run, then carries, then
// slices.
int rank(const RegionPort& port) { return static_cast<int>(port.flow) * 4 + port.program + 1; }

// `program` with inputs in another order, and some of its outputs.
ProgramPtr arranged(const ProgramPtr& program, const Positions& inputs,
                    const std::vector<bool>& outputs) {
  std::string key = "forwarding";
  for (const std::size_t i : inputs) key += concat(",", i);
  return *program->derived<ProgramPtr>(mask_key(key, outputs), [&] {
    MutableProgram copy = copy_of(*program);
    copy->inputs.clear();
    for (const std::size_t i : inputs) copy->inputs.push_back(program->inputs[i]);
    copy->outputs = select(program->outputs, outputs);
    return std::make_shared<ProgramPtr>(copy);
  });
}

std::size_t position_in(const Positions& list, std::size_t value) {
  return index(std::find(list.begin(), list.end(), value) - list.begin());
}

}  // namespace

Values bind_forwarding(const Op& op, const Params& params, const Values& in) {
  if (!op.regions) return shardax::bind(op, params, in);
  const Regions before = regions_of(op, params);
  if (before.fixed || before.runs == ExecutionKind::once || before.runs == ExecutionKind::mapped ||
      before.runs == ExecutionKind::mesh)
    return shardax::bind(op, params, in);
  Values out(before.results.size());
  std::vector<bool> passed(out.size());
  Regions after = before;
  for (std::size_t r = 0; r < out.size(); ++r) {
    const std::int64_t source = source_of(before, r);
    passed[r] = source >= 0;
    if (!passed[r]) continue;
    const auto operand = index(source);
    out[r] = in[operand];
    // Only the body takes values that are no carries any more.
    if (before.results[r].flow == PortKind::carried)
      after.operands[operand] = {PortKind::whole, 0, before.runs == ExecutionKind::looped ? 1 : -1,
                                 static_cast<int>(source)};
  }
  // A loop in which nothing changes keeps its carry, so that it has one.
  if (!any(passed) || (before.runs == ExecutionKind::looped && all(passed)))
    return shardax::bind(op, params, in);

  std::stable_sort(after.operands.begin(), after.operands.end(),
                   [](const RegionPort& a, const RegionPort& b) { return rank(a) < rank(b); });
  after.results = select(before.results, inverse(passed));
  Values operands;
  for (const RegionPort& port : after.operands) operands.push_back(in[index(port.source)]);
  for (std::size_t k = 0; k < after.programs.size(); ++k) {
    const Positions old = before.taken_by(k);
    Positions inputs;
    for (const std::size_t i : after.taken_by(k))
      inputs.push_back(position_in(old, index(after.operands[i].source)));
    const std::vector<bool> outputs =
        after.gives_results(k) ? inverse(passed) : std::vector<bool>{true};
    after.programs[k] = arranged(before.programs[k], inputs, outputs);
  }
  const Values rest = shardax::bind(op, op.with_regions(params, after), operands);
  for (std::size_t r = 0, next = 0; r < out.size(); ++r) {
    if (!passed[r]) out[r] = rest[next++];
  }
  return out;
}

}  // namespace shardax
