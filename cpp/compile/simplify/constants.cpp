// compile/simplify/constants.cpp - numbers of scalar arrays.
#include "compile/simplify/constants.h"

#include <algorithm>

#include "array/scalar_number.h"
#include "base/index.h"
#include "ir/core_ops.h"

namespace shardax {

bool holds_number(const Array& scalar, double wanted) {
  return scalar.dtype() != DType::boolean && scalar_number(scalar) == wanted;
}

namespace {

// A constant, or that which `v` repeats; null for others.
const Array* repeated_constant(const Builder& builder, Var v) {
  while (const Equation* broadcast = builder.defined_by(v, core_ops().broadcast_in_dim))
    v = broadcast->inputs[0];
  return builder.constant_value(v);
}

}  // namespace

bool is_scalar_constant(const Builder& builder, Var v, double wanted) {
  const Array* value = repeated_constant(builder, v);
  return value && itemsize(value->dtype()) >= 4 && holds_number(*value, wanted);
}

std::optional<double> repeated_number(const Builder& builder, Var v) {
  const Array* value = repeated_constant(builder, v);
  return value ? scalar_number(*value) : std::nullopt;
}

bool is_zero(const Program& program, Var v, const std::vector<int>& made_by) {
  if (const int e = made_by[index(v)]; e >= 0) {
    const Equation& eqn = program.equations[index(e)];
    return eqn.op == &core_ops().broadcast_in_dim && is_zero(program, eqn.inputs[0], made_by);
  }
  const auto at = std::find_if(program.constants.begin(), program.constants.end(),
                               [&](const Constant& c) { return c.var == v; });
  return at != program.constants.end() && holds_number(*at->value, 0);
}

}  // namespace shardax
