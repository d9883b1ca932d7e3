// compile/lower/legalize_types.cpp - arithmetic on narrow storage types legalized to wider ones.
//
// c:f8_e5m2[4] = mul a b   becomes   d:f32[4] = convert a; e:f32[4] = convert b; f:f32[4] = mul d
// e; c:f8_e5m2[4] = convert f. Ops that move elements, call functions or carry programs stay, and
// elementwise ones that say they have kernels of their own (half_native).
//
// Convolutions of 16-bit floats become those of float32, which sum the same and may take minimal
// filtering. Those of bfloat16 stay on machines that multiply it faster, and kernels of one tap
// everywhere, for they are products. Choices within windows become those of float32, for which
// alone they have vectors. The loops beside them convert.
#include "array/narrow.h"
#include "base/index.h"
#include "compile/builder.h"
#include "compile/passes.h"
#include "ir/core_ops.h"
#include "kernels/conv/convolution.h"
#include "ops/convolution.h"

namespace shardax {
namespace {

bool computes(const Op& op) {
  if (op.kind == Kind::elementwise && op.half_native) return false;
  return (op.kind == Kind::elementwise || op.kind == Kind::reduction || op.kind == Kind::other) &&
         op.effect.empty() && !op.eager;
}

// Is this a convolution of 16-bit floats that is faster with those of 32? One of kernels of one tap
// is a product, and machines may multiply bfloat16.
bool convolves_floats(const Equation& eqn, const Program& source) {
  const ops::ConvNumbers n = ops::conv_numbers(eqn.params);
  const Type& rhs = source.type(eqn.inputs[1]);
  const auto size = [&](std::size_t d) { return rhs.shape[index(n.of_rhs() + n.rhs_spec[d])]; };
  std::int64_t taps = 1;
  for (std::size_t d = 2; d < n.rhs_spec.size(); ++d) taps *= size(d);
  if (taps <= 1) return false;
  if (rhs.dtype != DType::bfloat16) return true;
  const std::int64_t groups = std::max(n.feature_groups, n.batch_groups);
  return !kernels::multiplies_bfloat16(size(0) / groups, size(1) * taps);
}

// An equation of 16-bit floats that is faster with those of 32?
bool prefers_floats(const Equation& eqn, const Program& source) {
  static const Op* const choices[] = {find_op("select_and_scatter_add"),
                                      find_op("select_and_gather_add")};
  if (eqn.inputs.empty() || !is_half(source.type(eqn.inputs[0]).dtype)) return false;
  return eqn.op == &core_ops().conv_general_dilated
             ? convolves_floats(eqn, source)
             : std::find(std::begin(choices), std::end(choices), eqn.op) != std::end(choices);
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
    if (prefers_floats(eqn, source_)) return with_floats(eqn, in);
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

  Vars with_floats(const Equation& eqn, Vars in) {
    for (Var& v : in) v = convert(v, DType::float32, eqn.location);
    Params params = eqn.params;
    if (params.has("preferred_element_type")) params.set("preferred_element_type", DType::float32);
    const Var out = builder_.emit(*eqn.op, params, in, eqn.location)[0];
    return {convert(out, source_.type(eqn.outputs[0]).dtype, eqn.location)};
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
  const bool narrow = std::any_of(program->types.begin(), program->types.end(),
                                  [](const Type& type) { return is_narrow(type.dtype); });
  const bool any =
      narrow || std::any_of(program->equations.begin(), program->equations.end(),
                            [&](const Equation& eqn) { return prefers_floats(eqn, *program); });
  return any ? Widener(*program).run() : program;
}

}  // namespace shardax
