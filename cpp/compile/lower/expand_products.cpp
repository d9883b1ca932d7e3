// compile/lower/expand_products.cpp - products that add nothing up become elementwise ones.
//
// c:f32[9,8,3] = dot_general[lhs_batch=(0, 1) rhs_batch=(0, 1)] a:f32[9,8] b:f32[9,8,3] becomes
// d = broadcast_in_dim a; c = mul d b, which is one loop with its neighbours. A kernel would be
// called for each of the 72 batches. Outer products are of this kind, and sums of one term.
#include "compile/builder.h"
#include "compile/passes.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

// Does each element of the result have one term?
bool is_outer_product(const Equation& eqn, const Program& source) {
  if (eqn.op != &core_ops().dot_general) return false;
  const DType dtype = source.type(eqn.outputs[0]).dtype;
  if (dtype == DType::boolean || is_narrow(dtype)) return false;
  const Shape& lhs = source.type(eqn.inputs[0]).shape;
  const Ints& contract = eqn.params.ints(param::lhs_contract);
  return std::all_of(contract.begin(), contract.end(),
                     [&](std::int64_t d) { return lhs[index(d)] == 1; });
}

class Expander {
 public:
  explicit Expander(const Program& source) : source_(source), builder_(source) {}

  ProgramPtr run() {
    const auto each = [&](const Equation& eqn, const Vars& in) -> Vars {
      if (is_outer_product(eqn, source_)) return {expanded(eqn, in)};
      return builder_.emit(*eqn.op, eqn.params, in, eqn.location);
    };
    return emit_again(source_, builder_, each);
  }

 private:
  Var expanded(const Equation& eqn, const Vars& in) {
    const Type& out = source_.type(eqn.outputs[0]);
    const Params& p = eqn.params;
    const auto free_of_rhs =
        static_cast<std::int64_t>(builder_.type(in[1]).rank() - p.ints(param::rhs_batch).size() -
                                  p.ints(param::rhs_contract).size());
    const auto rank = static_cast<std::int64_t>(out.rank());
    const Var lhs = spread(eqn, in[0], p.ints(param::lhs_batch), p.ints(param::lhs_contract), out,
                           static_cast<std::int64_t>(p.ints(param::lhs_batch).size()));
    const Var rhs = spread(eqn, in[1], p.ints(param::rhs_batch), p.ints(param::rhs_contract), out,
                           rank - free_of_rhs);
    return builder_.emit1(core_ops().mul, {}, {lhs, rhs}, eqn.location);
  }

  // An operand as it meets the result, whose dimensions from `first` on are its free ones.
  Var spread(const Equation& eqn, Var v, const Ints& batch, const Ints& contract, const Type& out,
             std::int64_t first) {
    const auto emit = [&](const Op& op, const Params& params) {
      v = builder_.emit1(op, params, {v}, eqn.location);
    };
    const auto rank = static_cast<std::int64_t>(builder_.type(v).rank());
    Ints order = batch, dims, dropped;
    for (std::size_t d = 0; d < batch.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    for (std::int64_t d = 0; d < rank; ++d) {
      if (has(batch, d) || has(contract, d)) continue;
      order.push_back(d);
      dims.push_back(first++);
    }
    for (const std::int64_t d : contract) {
      dropped.push_back(static_cast<std::int64_t>(order.size()));
      order.push_back(d);
    }
    if (!std::is_sorted(order.begin(), order.end()))
      emit(core_ops().transpose, {{"permutation", order}});
    if (!dropped.empty()) emit(core_ops().squeeze, {{"dimensions", dropped}});
    if (builder_.type(v).dtype != out.dtype)
      emit(core_ops().convert_element_type, {{"new_dtype", out.dtype}, {"weak_type", false}});
    if (builder_.type(v).shape != out.shape)
      emit(core_ops().broadcast_in_dim, {{"shape", out.shape}, {"broadcast_dimensions", dims}});
    return v;
  }

  const Program& source_;
  Builder builder_;
};

}  // namespace

ProgramPtr expand_products(const ProgramPtr& program) {
  const bool any =
      std::any_of(program->equations.begin(), program->equations.end(),
                  [&](const Equation& eqn) { return is_outer_product(eqn, *program); });
  return any ? Expander(*program).run() : program;
}

}  // namespace shardax
