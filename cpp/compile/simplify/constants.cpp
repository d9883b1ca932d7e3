// compile/simplify/constants.cpp - numbers of scalar arrays.
#include "compile/simplify/constants.h"

#include <algorithm>
#include <type_traits>

#include "array/half.h"
#include "base/index.h"
#include "ir/core_ops.h"

namespace shardax {

bool holds_number(const Array& scalar, double wanted) {
  if (scalar.type().rank() != 0) return false;
  return visit_dtype(scalar.dtype(), [&](auto kind) {
    using T = decltype(kind);
    const T* at = reinterpret_cast<const T*>(scalar.data());
    if constexpr (std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>)
      return to_float(*at) == wanted;
    else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
      return static_cast<double>(*at) == wanted;
    else
      return false;
  });
}

bool is_scalar_constant(const Builder& builder, Var v, double wanted) {
  while (const Equation* broadcast = builder.defined_by(v, core_ops().broadcast_in_dim))
    v = broadcast->inputs[0];
  const Array* value = builder.constant_value(v);
  return value && itemsize(value->dtype()) >= 4 && holds_number(*value, wanted);
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
