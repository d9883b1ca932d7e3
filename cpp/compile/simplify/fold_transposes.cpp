// compile/simplify/fold_transposes.cpp - orders followed to where they cost nothing.
#include "compile/simplify/fold_transposes.h"

#include <algorithm>

#include "base/index.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

using Result = std::optional<Vars>;

// The order of a product whose factors change places; empty where one has batches alone.
Ints swapped_order(const Builder& b, const Equation& dot) {
  const auto rank_of = [&](Var v) { return static_cast<std::int64_t>(b.type(v).rank()); };
  const auto size_of = [&](ParamName dims) {
    return static_cast<std::int64_t>(dot.params.get<Ints>(dims).size());
  };
  const std::int64_t batch = size_of("lhs_batch"), rank = rank_of(dot.outputs[0]),
                     first = rank_of(dot.inputs[0]) - size_of("lhs_contract");
  if (first == batch || first == rank) return {};
  Ints swapped = ops::iota_ints(index(rank));
  std::rotate(swapped.begin() + batch, swapped.begin() + first, swapped.end());
  return swapped;
}

bool elementwise(const Equation& eqn) {
  return eqn.op->kind == Kind::elementwise && eqn.op->effect.empty() && eqn.outputs.size() == 1;
}

// Is `v` in another order there already, or made in it as easily? `undone`: a transpose goes.
bool turns(const Builder& b, Var v, const Ints& order, int depth, bool& undone) {
  if (b.type(v).rank() == 0) return true;
  const Equation* made = b.definition(v);
  if (!made || depth == 0) return false;
  if (made->op == &core_ops().transpose) {
    const Ints both = ops::reordered(made->params.ints(param::permutation), order);
    if (both == ops::iota_ints(both.size())) return undone = true;
    const Equation* dot = b.defined_by(made->inputs[0], core_ops().dot_general);
    return dot && b.uses(made->inputs[0]) <= 1 && both == swapped_order(b, *dot);
  }
  if (b.uses(v) > 1) return false;
  if (made->op == &core_ops().dot_general) return order == swapped_order(b, *made);
  return elementwise(*made) && std::all_of(made->inputs.begin(), made->inputs.end(), [&](Var in) {
           return turns(b, in, order, depth - 1, undone);
         });
}

// `v` in that order.
Var turned(const PatternContext& m, Var v, const Ints& order) {
  if (m.b.type(v).rank() == 0) return v;
  const Equation made = *m.b.definition(v);
  if (elementwise(made)) {
    Vars operands;
    for (Var in : made.inputs) operands.push_back(turned(m, in, order));
    return m.emit(*made.op, made.params, operands);
  }
  if (made.op != &core_ops().transpose)
    return m.emit(core_ops().transpose, {{"permutation", order}}, {v});
  const Ints both = ops::reordered(made.params.ints(param::permutation), order);
  if (both == ops::iota_ints(both.size())) return made.inputs[0];
  return m.emit(core_ops().transpose, {{"permutation", both}}, {made.inputs[0]});
}

}  // namespace

std::optional<Vars> drop_transpose(const PatternContext& m) {
  const std::size_t rank = m.b.type(m.in[0]).rank();
  return m.params.ints(param::permutation) == ops::iota_ints(rank) ? one(m.in[0]) : Result{};
}

std::optional<Vars> join_transposes(const PatternContext& m) {
  const Equation* inner = m.b.defined_by(m.in[0], core_ops().transpose);
  if (!inner) return {};
  const Ints order =
      ops::reordered(inner->params.ints(param::permutation), m.params.ints(param::permutation));
  const Var source = inner->inputs[0];
  if (order == ops::iota_ints(order.size())) return one(source);
  return one(m.emit(core_ops().transpose, {{"permutation", order}}, {source}));
}

std::optional<Vars> transpose_into_dot(const PatternContext& m) {
  if (!m.uses_known || m.b.uses(m.in[0]) > 1) return {};
  const Equation* dot = m.b.defined_by(m.in[0], core_ops().dot_general);
  if (!dot || m.params.ints(param::permutation) != swapped_order(m.b, *dot)) return {};
  const Params& p = dot->params;
  const Params turned{{"lhs_contract", p.ints(param::rhs_contract)},
                      {"rhs_contract", p.ints(param::lhs_contract)},
                      {"lhs_batch", p.ints(param::rhs_batch)},
                      {"rhs_batch", p.ints(param::lhs_batch)},
                      {"preferred_element_type", m.b.type(m.in[0]).dtype}};
  const Vars operands{dot->inputs[1], dot->inputs[0]};
  return one(m.emit(core_ops().dot_general, turned, operands));
}

std::optional<Vars> transpose_operands(const PatternContext& m) {
  bool undone = false;
  const Equation* found = m.b.definition(m.in[0]);
  const Ints& order = m.params.ints(param::permutation);
  if (!m.uses_known || !found || !elementwise(*found) ||
      !turns(m.b, m.in[0], order, tuning::fold_transposes::most_steps, undone) || !undone)
    return {};
  return one(turned(m, m.in[0], order));
}

}  // namespace shardax
