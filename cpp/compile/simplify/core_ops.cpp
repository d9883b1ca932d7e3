// compile/simplify/core_ops.cpp - records by name, looked up once.
#include "compile/simplify/core_ops.h"

#include <algorithm>

#include "base/index.h"

namespace shardax {

const CoreOps& core_ops() {
  static const CoreOps ops{*find_op("add"),
                           *find_op("broadcast_in_dim"),
                           *find_op("concatenate"),
                           *find_op("conv_general_dilated"),
                           *find_op("convert_element_type"),
                           *find_op("div"),
                           *find_op("dot_general"),
                           *find_op("dynamic_slice"),
                           *find_op("dynamic_update_slice"),
                           *find_op("gather"),
                           *find_op("mul"),
                           *find_op("neg"),
                           *find_op("optimization_barrier"),
                           *find_op("pad"),
                           *find_op("psum"),
                           *find_op("reduce_sum"),
                           *find_op("reshape"),
                           *find_op("scan"),
                           *find_op("select_n"),
                           *find_op("sharding_constraint"),
                           *find_op("slice"),
                           *find_op("squeeze"),
                           *find_op("stop_gradient"),
                           *find_op("transpose")};
  return ops;
}

bool adds(const Op& op) {
  static const Op& add_any = *find_op("add_any");
  return &op == &core_ops().add || &op == &add_any;
}

bool is_zero(const Program& program, Var v, const std::vector<int>& made_by) {
  if (const int e = made_by[index(v)]; e >= 0) {
    const Equation& eqn = program.equations[index(e)];
    return eqn.op == &core_ops().broadcast_in_dim && is_zero(program, eqn.inputs[0], made_by);
  }
  const auto at = std::find_if(program.constants.begin(), program.constants.end(),
                               [&](const Constant& c) { return c.var == v; });
  if (at == program.constants.end() || at->value->type().rank() != 0) return false;
  const std::string text = scalar_text(*at->value);
  return text == "0.0" || text == "0";
}

}  // namespace shardax
