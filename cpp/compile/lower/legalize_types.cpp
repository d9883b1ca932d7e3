// compile/lower/legalize_types.cpp - arithmetic on narrow storage types legalized to wider ones.
//
// c:f8_e5m2[4] = mul a b   becomes   d:f32[4] = convert a; e:f32[4] = convert b; f:f32[4] = mul d
// e; c:f8_e5m2[4] = convert f. Ops that move elements, call functions or carry programs stay, and
// elementwise ones that say they have kernels of their own (half_native).
#include "array/narrow.h"
#include "compile/builder.h"
#include "compile/passes.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

bool computes(const Op& op) {
  if (op.kind == Kind::elementwise && op.half_native) return false;
  return (op.kind == Kind::elementwise || op.kind == Kind::reduction || op.kind == Kind::other) &&
         op.effect.empty() && !op.eager;
}

class Widener {
 public:
  explicit Widener(const Program& source) : source_(source), builder_(source) {}

  ProgramPtr run() {
    const auto each = [&](const Equation& eqn, const Vars& in) { return step(eqn, in); };
    return emit_again(source_, builder_, each);
  }

 private:
  Var convert(Var v, DType dtype, const LocationPtr& location) {
    const Type& type = builder_.type(v);
    if (type.dtype == dtype) return v;
    return builder_.emit1(core_ops().convert_element_type,
                          {{"new_dtype", dtype}, {"weak_type", type.weak}}, {v}, location);
  }

  Vars step(const Equation& eqn, Vars in) {
    const auto narrow = [&](Var v) { return is_narrow(source_.type(v).dtype); };
    const bool any = std::any_of(eqn.inputs.begin(), eqn.inputs.end(), narrow) ||
                     std::any_of(eqn.outputs.begin(), eqn.outputs.end(), narrow);
    if (!any || !computes(*eqn.op)) return builder_.emit(*eqn.op, eqn.params, in, eqn.location);
    if (eqn.op == &core_ops().convert_element_type) return {conversion(eqn, in[0])};
    for (Var& v : in) v = convert(v, wide_dtype(builder_.type(v).dtype), eqn.location);
    Params params = eqn.params;
    for (const auto& [key, value] : eqn.params) {
      const auto* dtype = std::get_if<DType>(&value);
      if (dtype && is_narrow(*dtype)) params.set(key, wide_dtype(*dtype));
    }
    Vars out = builder_.emit(*eqn.op, params, in, eqn.location);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = convert(out[i], source_.type(eqn.outputs[i]).dtype, eqn.location);
    return out;
  }

  // There are kernels between narrow types and float32 or int32. Integers stay integers, so that
  // they wrap.
  Var conversion(const Equation& eqn, Var v) {
    const DType from = builder_.type(v).dtype, to = eqn.params.dtype(param::new_dtype);
    if (is_narrow(from)) v = convert(v, wide_dtype(from), eqn.location);
    if (is_narrow(to)) {
      const DType seen = builder_.type(v).dtype;
      const bool whole = is_integer(seen) || seen == DType::boolean;
      v = convert(v, whole && is_narrow_integer(to) ? DType::int32 : DType::float32, eqn.location);
    }
    return builder_.emit(*eqn.op, eqn.params, {v}, eqn.location)[0];
  }

  const Program& source_;
  Builder builder_;
};

}  // namespace

ProgramPtr legalize_types(const ProgramPtr& program) {
  const bool any = std::any_of(program->types.begin(), program->types.end(),
                               [](const Type& type) { return is_narrow(type.dtype); });
  return any ? Widener(*program).run() : program;
}

}  // namespace shardax
