// compile/loops/sink_adds_into_branches.cpp - additions sink into branches and loops.
//
// The gradient of weights that only some turns of a loop use:
//   d = cond(p, { 0 }, { a b }); c' = c + d   ->   c' = cond(p, c, { c }, { c + a b })
// The branch that has nothing to add writes nothing where c' lies in the memory of c. Branches of
// loops within the loop, which add to slices of c, are reached through them.
#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "compile/builder.h"
#include "compile/lower/liveness.h"
#include "compile/passes.h"
#include "compile/pipeline.h"
#include "compile/simplify/constants.h"
#include "ir/core_ops.h"
#include "ir/regions.h"

namespace shardax {
namespace {

std::size_t result_at(const Equation& eqn, Var v) {
  return index(std::find(eqn.outputs.begin(), eqn.outputs.end(), v) - eqn.outputs.begin());
}

std::optional<Equation> with_term(const Equation& eqn, std::size_t k, Var term,
                                  const LocationPtr& location);

// The program with one operand more, to which result `k` is added; null where no branch gives
// zeros for it.
ProgramPtr with_operand(const ProgramPtr& program, std::size_t k, const LocationPtr& location) {
  const std::vector<int> made_by = makers(*program), uses = count_uses(*program);
  const Var v = program->outputs[k];
  const MutableProgram made = copy_of(*program);
  const Var term = made->add(program->type(v));
  made->inputs.push_back(term);
  if (is_zero(*program, v, made_by)) {
    made->outputs[k] = term;
    return made;
  }
  const int e = made_by[index(v)];
  if (e < 0 || uses[index(v)] != 1) return {};
  Equation& maker = made->equations[index(e)];
  std::optional<Equation> within = with_term(maker, result_at(maker, v), term, location);
  if (!within) return {};
  maker = std::move(*within);
  return made;
}

// The same where nothing gives zeros: the sum is an equation.
ProgramPtr with_sum(const ProgramPtr& program, std::size_t k, const LocationPtr& location) {
  const MutableProgram made = copy_of(*program);
  const Type type = program->type(program->outputs[k]);
  const Var term = made->add(type), sum = made->add(type);
  made->inputs.push_back(term);
  made->equations.push_back({&core_ops().add, {}, {term, program->outputs[k]}, {sum}, location});
  made->outputs[k] = sum;
  return made;
}

// A branch, or a loop over slices, that adds `term` to its result `k`.
std::optional<Equation> with_term(const Equation& eqn, std::size_t k, Var term,
                                  const LocationPtr& location) {
  if (!eqn.op->regions || !eqn.op->with_regions) return {};
  Regions regions = regions_of(*eqn.op, eqn.params);
  const bool branches = regions.runs == ExecutionKind::one_of;
  if (regions.fixed || !(branches || regions.runs == ExecutionKind::counted)) return {};
  const RegionPort& result = regions.results[k];
  if (!branches && (result.flow != PortKind::sliced || result.axis != 0)) return {};
  bool worth = false;
  for (ProgramPtr& body : regions.programs) {
    const ProgramPtr simple = rewritten_body(body), less = with_operand(simple, k, location);
    worth = worth || less;
    body = less ? less : with_sum(simple, k, location);
  }
  if (!worth) return {};
  regions.operands.push_back(RegionPort{branches ? PortKind::whole : PortKind::sliced});
  Equation out = eqn;
  out.inputs.push_back(term);
  out.params = eqn.op->with_regions(eqn.params, regions);
  return out;
}

class AddWithin {
 public:
  explicit AddWithin(const ProgramPtr& program)
      : source_(program), made_by_(makers(*program)), uses_(count_uses(*program)) {}

  ProgramPtr run() {
    for (std::size_t e = 0; e < source_->equations.size(); ++e) {
      const Equation& eqn = source_->equations[e];
      if (!is_add(*eqn.op)) continue;
      for (const std::size_t k : {1, 0}) {
        if (within(eqn, eqn.inputs[k], eqn.inputs[1 - k])) break;
      }
    }
    if (!made_) return source_;
    std::erase_if(made_->equations,
                  [&](const Equation& e) { return has(dropped_, e.outputs[0]) && is_add(*e.op); });
    return made_;
  }

 private:
  // `v`, which only this equation uses, made with `term` added, where that is known before.
  bool within(const Equation& sum, Var v, Var term) {
    const int e = made_by_[index(v)];
    if (e < 0 || uses_[index(v)] != 1 || made_by_[index(term)] >= e ||
        !same_shape_and_dtype(source_->type(v), source_->type(term)))
      return false;
    const Program& now = made_ ? *made_ : *source_;
    const Equation& maker = now.equations[index(e)];
    const std::size_t k = result_at(maker, v);
    std::optional<Equation> made = with_term(maker, k, term, sum.location);
    if (!made) return false;
    if (!made_) made_ = copy_of(*source_);
    made->outputs[k] = sum.outputs[0];
    made_->equations[index(e)] = std::move(*made);
    dropped_.push_back(sum.outputs[0]);
    return true;
  }

  const ProgramPtr source_;
  const std::vector<int> made_by_, uses_;
  MutableProgram made_;
  Vars dropped_;  // sums, which equations with regions give now
};

}  // namespace

ProgramPtr sink_adds_into_branches(const ProgramPtr& program) {
  const auto has_regions = [](const Equation& e) { return e.op->regions != nullptr; };
  const auto is_sum = [](const Equation& e) { return is_add(*e.op); };
  if (std::none_of(program->equations.begin(), program->equations.end(), has_regions) ||
      std::none_of(program->equations.begin(), program->equations.end(), is_sum))
    return program;
  return AddWithin(program).run();
}

}  // namespace shardax
