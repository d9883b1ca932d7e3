// analysis/cost.cpp - counting operations and bytes.
#include "analysis/cost.h"

#include "ir/bodies.h"
#include "ops/convolution.h"

namespace shardax {
namespace {

constexpr DTypeSet integers = bit(DType::int8) | bit(DType::int32) | bit(DType::int64);

double size_of(const Program& p, Var v) { return static_cast<double>(p.type(v).size()); }

// The number of elements that each result of a product sums over; 0 for other ops.
double contracted(const Program& p, const Equation& eqn) {
  const auto* dims = eqn.params.find("lhs_contract");
  if (!dims) return 0;
  double n = 1;
  for (std::int64_t d : std::get<Ints>(*dims))
    n *= static_cast<double>(p.type(eqn.inputs[0]).shape[static_cast<std::size_t>(d)]);
  return n;
}

Cost own_cost(const Program& p, const Equation& eqn) {
  Cost cost;
  const double out = eqn.outputs.empty() ? 0 : size_of(p, eqn.outputs[0]);
  if (const double n = contracted(p, eqn)) {
    cost.flops = 2 * n * out;
  } else if (eqn.params.has("rhs_spec")) {
    Types in, results;
    for (Var v : eqn.inputs) in.push_back(p.type(v));
    for (Var v : eqn.outputs) results.push_back(p.type(v));
    cost.flops = ops::conv_flops(in, results, eqn.params);
  } else if (eqn.op->kind == Kind::elementwise) {
    const bool only_inexact = eqn.op->dtypes != 0 && (eqn.op->dtypes & integers) == 0;
    (only_inexact ? cost.transcendentals : cost.flops) = out;
  } else if (eqn.op->kind == Kind::reduction) {
    cost.flops = std::max(0.0, size_of(p, eqn.inputs[0]) - out);
  }
  for (Var v : eqn.inputs) cost.bytes += static_cast<double>(p.type(v).bytes());
  for (Var v : eqn.outputs) cost.bytes += static_cast<double>(p.type(v).bytes());
  return cost;
}

void add(Cost& sum, const Cost& more, double times) {
  sum.flops += times * more.flops;
  sum.transcendentals += times * more.transcendentals;
  sum.bytes += times * more.bytes;
}

Cost carried_cost(const Equation& eqn) {
  const Bodies bodies = bodies_of(*eqn.op, eqn.params);
  Cost out;
  for (const ProgramPtr& body : bodies.programs) {
    const Cost each = cost_of(*body);
    if (bodies.runs != Runs::one_of) {
      const bool repeated = bodies.runs == Runs::counted || bodies.runs == Runs::mapped;
      add(out, each, repeated ? static_cast<double>(bodies.length) : 1.0);
    } else if (each.flops + each.transcendentals >= out.flops + out.transcendentals) {
      out = each;
    }
  }
  return out;
}

}  // namespace

Cost cost_of(const Program& program) {
  check_stack("a program within programs");
  Cost sum;
  for (const Equation& eqn : program.equations) add(sum, cost_of(program, eqn), 1);
  return sum;
}

Cost cost_of(const Program& program, const Equation& eqn) {
  return eqn.op->bodies ? carried_cost(eqn) : own_cost(program, eqn);
}

}  // namespace shardax
