// control/custom_vmap.cpp - functions with a batching rule of the user's own.
//
// The rule takes the size of the axis, a flag per argument (does it carry the axis?) and the
// arguments; it gives the results and a flag for each.
#include "base/errors.h"
#include "control/control.h"
#include "ops/ops.h"
#include "transform/batch.h"

namespace shardax {
namespace {

extern const Op custom_vmap_op;

Values flags(const std::vector<bool>& mask) {
  Values out;
  for (const bool set : mask) out.push_back(ops::scalar(DType::boolean, set));
  return out;
}

bool is_set(const Value& flag) {
  const Array* array = concrete(flag);
  if (!array || array->dtype() != DType::boolean || array->type().rank() != 0) {
    type_error(
        "custom_vmap: the rule's second result says which results carry the mapped axis, in "
        "Python bools; got ",
        to_string(flag->type()), ".");
  }
  return *reinterpret_cast<const bool*>(array->data());
}

std::vector<bool> mask_of(const Values& group) {
  std::vector<bool> mask;
  for (const Value& flag : group) mask.push_back(is_set(flag));
  return mask;
}

std::vector<Values> call_rule(const Function& rule, std::int64_t size,
                              const std::vector<bool>& batched, const Values& in) {
  const Values head =
      joined({ops::scalar(DType::int32, static_cast<double>(size))}, flags(batched));
  return rule.call(joined(head, in));
}

// The rule of a derivative: the derivative of the rule. Arguments are primals, then the tangents
// that `nonzero` selects. If no primal carries the axis together with its tangent, the rule is
// asked for one slice, and its derivative is batched. Otherwise both get the axis if one has it.
class DerivedRule final : public Function {
 public:
  DerivedRule(FunctionPtr rule, std::vector<bool> nonzero, std::vector<bool> wanted)
      : rule_(std::move(rule)), nonzero_(std::move(nonzero)), wanted_(std::move(wanted)) {}
  std::string text() const override { return rule_->text(); }
  const Function* origin() const override { return rule_.get(); }

  std::vector<Values> call(const Values& in) const override {
    const std::size_t count = nonzero_.size();
    const std::size_t total = (in.size() - 1) / 2;
    const auto size = *reinterpret_cast<const std::int32_t*>(concrete(in[0])->data());
    const std::vector<bool> given = mask_of(part(in, 1, total));
    Values primals = part(in, 1 + total, count);
    Values tangents = spread(part(in, 1 + total + count, total - count), nonzero_);
    std::vector<bool> batched = part(given, 0, count);
    if (apart(given)) {
      const std::vector<bool> none(count, false);
      const auto derivative = [&](const Values& v) {
        std::vector<bool> carry;
        return both(size, none, part(v, 0, count), spread(part(v, count, total - count), nonzero_),
                    carry);
      };
      const Batched over = batch(derivative, part(in, 1 + total, total), given, BatchAxis{size});
      return {over.out, flags(over.batched)};
    }
    for (std::size_t i = 0, next = count; i < count; ++i) {
      if (!nonzero_[i]) continue;
      const bool moves = given[next++];
      if (moves && !batched[i]) primals[i] = ops::broadcast_leading(primals[i], size);
      if (batched[i] && !moves) tangents[i] = ops::broadcast_leading(tangents[i], size);
      batched[i] = batched[i] || moves;
    }
    std::vector<bool> carry;
    Values out = both(size, batched, primals, tangents, carry);
    Values out_flags = flags(carry);
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i]) out_flags.push_back(out_flags[i]);
    }
    return {std::move(out), std::move(out_flags)};
  }

 private:
  // Does no primal carry the axis together with its tangent, or without having one?
  bool apart(const std::vector<bool>& given) const {
    for (std::size_t i = 0, next = nonzero_.size(); i < nonzero_.size(); ++i) {
      const bool moves = nonzero_[i] ? given[next++] : true;
      if (given[i] && moves) return false;
    }
    return true;
  }
  // The rule's results, then the tangents of those that are wanted; which results carry the axis.
  Values both(std::int64_t size, const std::vector<bool>& batched, const Values& primals,
              const Values& tangents, std::vector<bool>& carry) const {
    const JvpResult result = jvp(
        [&](const Values& v) {
          std::vector<Values> groups = call_rule(*rule_, size, batched, v);
          carry = mask_of(groups.at(1));
          return groups.at(0);
        },
        primals, tangents);
    Values out = result.out;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (!wanted_[i]) continue;
      out.push_back(zeros_if_null(result.t[i], tangent_type(result.out[i]->type())));
    }
    return out;
  }

  FunctionPtr rule_;
  std::vector<bool> nonzero_;  // of the inputs
  std::vector<bool> wanted_;   // of the outputs
};

JvpResult custom_vmap_jvp(const Params& params, const Values& in, const Values& t) {
  const ProgramPtr& call = params.program(param::call);
  const std::vector<bool> nonzero = nonnull(t);
  std::vector<bool> wanted;
  for (const Type& type : call->output_types()) wanted.push_back(differentiable(type));
  const JvpProgram derivative = jvp_program(call, nonzero, &wanted);
  const FunctionPtr rule = new DerivedRule(params.get(param::rule), nonzero, wanted);
  const Values both = shardax::bind(custom_vmap_op, {{"call", derivative.program}, {"rule", rule}},
                                    joined(in, select(t, nonzero)));
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(wanted.size());
  return {Values(both.begin(), middle), spread(Values(middle, both.end()), wanted)};
}

Linearized custom_vmap_linearize(const Params& params, const Values& in,
                                 const std::vector<bool>& nonzero) {
  Linearized result;
  result.out = shardax::bind(custom_vmap_op, params, in);
  result.linear = [params, in, nonzero](const Values& t) {
    return custom_vmap_jvp(params, in, spread(select(t, nonzero), nonzero)).t;
  };
  return result;
}

Batched custom_vmap_batch(const BatchArgs& a) {
  const ProgramPtr& call = a.params.program(param::call);
  if (a.axis.devices) {  // the slices of a device axis are separate calls
    const BatchedProgram body = batch_program(call, a.batched, a.axis);
    return {bind_jit(body.program, a.in), body.batched};
  }
  std::vector<Values> groups =
      call_rule(a.params.function(param::rule), a.axis.size, a.batched, a.in);
  const std::vector<bool> batched = mask_of(groups.at(1));
  // The rule may give other shapes than the function does.
  for (std::size_t i = 0; i < batched.size(); ++i) {
    const Type& found = groups[0][i]->type();
    if (!batched[i] || (found.rank() > 0 && found.shape[0] == a.axis.size)) continue;
    value_error("custom_vmap: result ", i, " of the rule ", a.params.function(param::rule).text(),
                " is batched, but has type ", to_string(found), "; a first dimension of size ",
                a.axis.size, " was expected.");
  }
  return {std::move(groups[0]), batched};
}

const Op custom_vmap_op{
    {.name = "custom_vmap_call",
     .doc = "A function with a batching rule of the user's own.",
     .kind = Kind::control,
     .type = [](const Op&, const Types&, const Params& params) -> Types {
       params.function(param::rule);
       return params.program(param::call)->output_types();
     },
     .jvp_body = custom_vmap_jvp,
     .linearize = custom_vmap_linearize,
     .transpose = [](const TransposeArgs& a) -> Values {
       return transpose_call(a.params.program(param::call), a);
     },
     .batch = custom_vmap_batch,
     .regions = [](const Params& params) { return call_of(params.program(param::call), true); },
     .with_regions =
         [](const Params& params, const Regions& regions) {
           return params.with("call", regions.programs[0]);
         }}};

}  // namespace

Values bind_custom_vmap(const ProgramPtr& call, const FunctionPtr& rule, const Values& in) {
  return shardax::bind(custom_vmap_op, {{"call", call}, {"rule", rule}}, in);
}

}  // namespace shardax
