// analysis/cost.cpp - counting operations and bytes.
#include "analysis/cost.h"

#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ir/regions.h"
#include "ops/convolution.h"

namespace shardax {
namespace {

constexpr DTypeSet integers = bit(DType::int8) | bit(DType::int32) | bit(DType::int64);

double size_of(const Type& type) { return static_cast<double>(type.size()); }

void add(Cost& sum, const Cost& more, double times) {
  sum.flops += times * more.flops;
  sum.transcendentals += times * more.transcendentals;
  sum.bytes += times * more.bytes;
}

Cost carried_cost(const Equation& eqn) {
  const Regions regions = regions_of(*eqn.op, eqn.params);
  Cost out;
  for (const ProgramPtr& body : regions.programs) {
    const Cost each = cost_of(*body);
    if (regions.runs != ExecutionKind::one_of) {
      const bool repeated =
          regions.runs == ExecutionKind::counted || regions.runs == ExecutionKind::mapped;
      add(out, each, repeated ? static_cast<double>(regions.length) : 1.0);
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
  if (eqn.op->regions) return carried_cost(eqn);
  Types in, out;
  for (Var v : eqn.inputs) in.push_back(program.type(v));
  for (Var v : eqn.outputs) out.push_back(program.type(v));
  return cost_of(*eqn.op, eqn.params, in, out);
}

Cost cost_of(const Op& op, const Params& params, const Types& in, const Types& out) {
  Cost cost;
  const double size = out.empty() ? 0 : size_of(out[0]);
  if (&op == &core_ops().dot_general) {
    const auto summed = dim_factors(op, params, in, out[0])->reduced_size();
    cost.flops = 2 * static_cast<double>(summed) * size;
  } else if (params.has("rhs_spec")) {
    cost.flops = ops::conv_flops(in, out, params);
  } else if (op.kind == Kind::elementwise) {
    const bool only_inexact = op.dtypes != 0 && (op.dtypes & integers) == 0;
    (only_inexact ? cost.transcendentals : cost.flops) = size;
  } else if (op.kind == Kind::reduction) {
    cost.flops = std::max(0.0, size_of(in[0]) - size);
  }
  for (const Type& type : in) cost.bytes += static_cast<double>(type.bytes());
  for (const Type& type : out) cost.bytes += static_cast<double>(type.bytes());
  return cost;
}

}  // namespace shardax
