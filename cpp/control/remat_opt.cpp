// control/remat_opt.cpp - the forward rule of a custom_vjp function where its residuals may turn
// out not to be needed: under a checkpoint, whose first pass keeps none. Then the function itself
// is computed.
#include <algorithm>

#include "base/errors.h"
#include "base/index.h"
#include "control/call_jvp.h"
#include "ops/ops.h"

namespace shardax {
namespace {

extern const Op remat_opt_op;

std::size_t residual_count(const Params& params) { return index(params.integer(param::num_res)); }

Regions remat_opt_regions(const Params& params) {
  Regions regions = call_of(params.program(param::fwd_jaxpr), true);
  regions.sheds_results = true;
  return regions;
}

// Without the last residual it is the function.
Params remat_opt_with_regions(const Params& params, const Regions& regions) {
  const ProgramPtr& fun = params.program(param::fun_jaxpr);
  const std::size_t outputs = fun->outputs.size();
  std::vector<bool> left(outputs), every(fun->inputs.size(), true);
  std::int64_t residuals = 0;
  for (const RegionPort& port : regions.results) {
    const auto source = index(port.source);
    if (source < outputs) {
      left[source] = true;
    } else {
      ++residuals;
    }
  }
  const ProgramPtr smaller = all(left) ? fun : dce_program(fun, left, &every).program;
  const bool is_function = residuals == 0 && residual_count(params) > 0;
  return params.with("fun_jaxpr", smaller)
      .with("fwd_jaxpr", is_function ? smaller : regions.programs[0])
      .with("num_res", residuals);
}

JvpResult remat_opt_jvp(const Params& params, const Values& in, const Values& t) {
  return call_jvp(params.program(param::fwd_jaxpr), in, t, bind_jit);
}

Batched remat_opt_batch(const BatchArgs& a) {
  const ProgramPtr& forward = a.params.program(param::fwd_jaxpr);
  const ProgramPtr& fun = a.params.program(param::fun_jaxpr);
  if (a.axis.devices) {
    const BatchedProgram body = batch_program(forward, a.batched, a.axis);
    return {bind_jit(body.program, a.in), body.batched};
  }
  const std::vector<bool> all_forward(forward->outputs.size(), true);
  const std::vector<bool> all_fun(fun->outputs.size(), true);
  const Params params =
      a.params.with("fwd_jaxpr", batch_program(forward, a.batched, a.axis, &all_forward).program)
          .with("fun_jaxpr", batch_program(fun, a.batched, a.axis, &all_fun).program);
  return {shardax::bind(a.op, params, a.in), all_forward};
}

// The forward rule gives the function's results, then residuals.
Types remat_opt_type(const Op&, const Types&, const Params& params) {
  const Program &fun = *params.program(param::fun_jaxpr),
                &forward = *params.program(param::fwd_jaxpr);
  const Types own = fun.output_types(), out = forward.output_types();
  const auto alike = [](const Types& a, const Types& b) {
    return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin(), same_shape_and_dtype);
  };
  const bool fits = alike(own, out) && out.size() - own.size() == residual_count(params) &&
                    fun.inputs.size() == forward.inputs.size() &&
                    alike(fun.input_types(), forward.input_types());
  if (!fits) {
    value_error("remat_opt: a function of ", fun.inputs.size(), " inputs and ", own.size(),
                " outputs and its rule, of ", forward.inputs.size(), " inputs, ", out.size(),
                " outputs and ", params.integer(param::num_res), " residuals, do not go together.");
  }
  return out;
}

const Op remat_opt_op{
    {.name = "remat_opt",
     .doc = "A forward rule, or the function that it belongs to where no residual is needed.",
     .kind = Kind::control,
     .type = remat_opt_type,
     .jvp_body = remat_opt_jvp,
     .batch = remat_opt_batch,
     .regions = remat_opt_regions,
     .with_regions = remat_opt_with_regions}};

// Takes further inputs, which it does not use, at position `at`.
ProgramPtr with_inputs(const ProgramPtr& program, std::size_t at, const Types& types) {
  if (types.empty()) return program;
  const MutableProgram wider = copy_of(*program);
  std::vector<Var> more;
  for (const Type& type : types) more.push_back(wider->add(type));
  wider->inputs.insert(wider->inputs.begin() + static_cast<std::ptrdiff_t>(at), more.begin(),
                       more.end());
  return wider;
}

}  // namespace

Values bind_remat_opt(const FunctionPtr& fun, const FunctionPtr& forward, const Values& in) {
  std::size_t residuals = 0;
  const auto both = [&](const Values& v) {
    const std::vector<Values> groups = forward->call(v);
    residuals = groups.at(1).size();
    return joined(groups.at(0), groups.at(1));
  };
  if (!staging_in_progress()) return both(in);
  // Both take the arguments, then the values that the rule closes over, then those of the function.
  const StagingTrace::Result rule = stage(types_of(in), both, forward->text());
  const StagingTrace::Result whole =
      stage(types_of(in), [&](const Values& v) { return fun->call(v).at(0); }, fun->text());
  const std::size_t after = in.size() + rule.captured.size();
  return shardax::bind(
      remat_opt_op,
      {{"fun_jaxpr", with_inputs(whole.program, in.size(), types_of(rule.captured))},
       {"fwd_jaxpr", with_inputs(rule.program, after, types_of(whole.captured))},
       {"num_res", static_cast<std::int64_t>(residuals)}},
      joined(joined(in, rule.captured), whole.captured));
}

}  // namespace shardax
