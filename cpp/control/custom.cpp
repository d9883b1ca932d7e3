// control/custom.cpp - functions with derivative rules of the user's own: custom_jvp_call,
// custom_vjp_call, and custom_lin, the linear map that a custom vjp rule stands for.
//
// If nothing is staged, the user's functions are called when they are needed, with concrete values.
// Staging records the function as a program and keeps the rules as Functions, which are called when
// the program is differentiated.
#include "base/errors.h"
#include "base/index.h"
#include "control/batched_function.h"
#include "control/control.h"
#include "control/drop_unused_results.h"
#include "ops/ops.h"

namespace shardax {
namespace {

extern const Op custom_jvp_op, custom_vjp_op, custom_lin_op;

// The params that hold rules.
constexpr ParamName jvp_name = "jvp", fwd_name = "fwd", bwd_name = "bwd";

// The number of last inputs that are values the function closed over.
std::size_t closed_over(const Params& params) {
  return params.has("num_consts") ? index(params.integer(param::num_consts)) : 0;
}

Values arguments(const Params& params, const Values& in) {
  return part(in, 0, in.size() - closed_over(params));
}

void check_closed_over(const Op& op, const Params& params, const Values& t) {
  const auto last = t.end() - static_cast<std::ptrdiff_t>(closed_over(params));
  if (std::any_of(last, t.end(), [](const Value& v) { return bool(v); }))
    fail_closed_over(op, params);
}

// The functions of the user's that `names` lists are there.
void check_functions(const Params& params, ParamNames names) {
  for (const ParamName name : names) *params.get<FunctionPtr>(name);
}

template <const ParamName*... rules>
Types call_type(const Op&, const Types& in, const Params& params) {
  check_functions(params, {*rules...});
  if (closed_over(params) > in.size())
    value_error("num_consts ", params.integer(param::num_consts), " of ", in.size(), " operands.");
  return params.program(param::call_jaxpr)->output_types();
}

const ProgramPtr& call_body(const Params& params) { return params.program(param::call_jaxpr); }
Regions call_regions(const Params& params) {
  Regions regions = call_of(call_body(params), true);
  regions.sheds_results = true;
  return regions;
}

// The results of the body that are left; empty: all.
std::vector<bool> results_left(const Params& params, const Regions& regions) {
  std::vector<bool> left(call_body(params)->outputs.size());
  for (const RegionPort& port : regions.results) left[index(port.source)] = true;
  return all(left) ? std::vector<bool>() : left;
}

// A derivative that comes out by the function's body has passed by its rule.
template <const Op& op>
Values call_eager(const Params& params, const Values& in) {
  if (const ParamValue* body = params.find("call_jaxpr"))
    return evaluate(*std::get<ProgramPtr>(*body), in);
  Values out = params.function(param::fun).call(in).at(0);
  if (std::any_of(out.begin(), out.end(), is_differentiated)) fail_closed_over(op, params);
  return out;
}

StagedCall call_stage(const Params& params, const Values& in) {
  if (params.has("call_jaxpr")) return {params, in};
  StagingTrace::Result staged = stage(
      types_of(in), [&](const Values& v) { return params.function(param::fun).call(v).at(0); },
      params.text(param::name));
  Params recorded;
  for (const auto& [name, value] : params) {
    if (name == "fun") {
      recorded.set("call_jaxpr", staged.program);
    } else {
      recorded.set(name, value);
    }
  }
  if (!staged.captured.empty())
    recorded.set("num_consts", static_cast<std::int64_t>(staged.captured.size()));
  return {recorded, joined(in, staged.captured)};
}

// The call over a batch; the rules are replaced by the caller. With a batched operand all results
// carry the axis. Without one, the function closes over a batched value or names the axis. Results
// then carry the axis if they do when the function is called or recorded.
struct CallOverBatch {
  Params params;
  Mask results = nullptr;  // null: all
  Mask linear = nullptr;

  Batched bind(const Op& op, const Values& in) const {
    Values out = shardax::bind(op, params, in);
    std::vector<bool> mask = results ? *results : std::vector<bool>(out.size(), true);
    return {std::move(out), std::move(mask)};
  }
};

CallOverBatch call_over_batch(const BatchArgs& a) {
  CallOverBatch call;
  if (a.axis.devices || !any(a.batched)) {
    call.results = std::make_shared<std::vector<bool>>();
    call.linear = std::make_shared<std::vector<bool>>();
  }
  if (!a.params.has("call_jaxpr")) {
    call.params = a.params.with(
        "fun",
        batched_function(a.params.get(param::fun), a.axis,
                         {.batched = a.batched, .results = call.results, .linear = call.linear}));
    return call;
  }
  const ProgramPtr& body = a.params.program(param::call_jaxpr);
  const std::vector<bool> all(body->outputs.size(), true);
  const BatchedProgram batched =
      batch_program(body, a.batched, a.axis, call.results ? nullptr : &all);
  call.params = a.params.with("call_jaxpr", batched.program);
  if (!call.results) return call;
  *call.results = batched.batched;
  for (std::size_t i = 0; i < batched.batched.size(); ++i) {
    if (differentiable(body->type(body->outputs[i]))) call.linear->push_back(batched.batched[i]);
  }
  return call;
}

// A device axis is batched when a program is compiled: no derivative is taken any more, and uniform
// values may stay so.
bool rules_are_over(const BatchArgs& a) { return a.axis.devices && a.params.has("call_jaxpr"); }
Batched batch_body(const BatchArgs& a) {
  const BatchedProgram body = batch_program(a.params.program(param::call_jaxpr), a.batched, a.axis);
  return {bind_jit(body.program, a.in), body.batched};
}

Batched all_batched(Values out) {
  std::vector<bool> mask(out.size(), true);
  return {std::move(out), std::move(mask)};
}

// ---- custom_jvp ----------------------------------------------------------------------------

JvpResult custom_jvp_jvp(const Params& params, const Values& in, const Values& t) {
  check_closed_over(custom_jvp_op, params, t);
  Values both = arguments(params, in);
  const std::size_t count = both.size();
  const bool symbolic = params.flag(param::symbolic_zeros);
  for (std::size_t i = 0; i < count; ++i) {
    const Type type = in[i]->type();
    both.push_back(symbolic || !differentiable(type) ? t[i]
                                                     : zeros_if_null(t[i], tangent_type(type)));
  }
  std::vector<Values> groups = params.function(param::jvp).call(both);
  return {std::move(groups.at(0)), std::move(groups.at(1))};
}

Params custom_jvp_with_regions(const Params& params, const Regions& regions) {
  Params out = params.with("call_jaxpr", regions.programs[0]);
  const std::vector<bool> left = results_left(params, regions);
  if (!left.empty()) out.set("jvp", without_results(params.get(param::jvp), left, 2));
  return out;
}

Batched custom_jvp_batch(const BatchArgs& a) {
  if (rules_are_over(a)) return batch_body(a);
  const std::vector<bool> mask = part(a.batched, 0, a.batched.size() - closed_over(a.params));
  CallOverBatch call = call_over_batch(a);
  call.params.set("jvp",
                  batched_function(a.params.get(param::jvp), a.axis,
                                   {.batched = joined(mask, mask), .results = call.results}));
  return call.bind(a.op, a.in);
}

const Op custom_jvp_op{{.name = "custom_jvp_call",
                        .doc = "A function with a forward derivative of the user's own.",
                        .kind = Kind::control,
                        .type = call_type<&jvp_name>,
                        .jvp_body = custom_jvp_jvp,
                        .transpose = [](const TransposeArgs& a) -> Values {
                          return transpose_call(call_body(a.params), a);
                        },
                        .batch = custom_jvp_batch,
                        .regions = call_regions,
                        .with_regions = custom_jvp_with_regions,
                        .eager = call_eager<custom_jvp_op>,
                        .stage = call_stage}};

// ---- custom_vjp ----------------------------------------------------------------------------

// The forward rule gives outputs and residuals. The tangents of the outputs are an unknown linear
// map of the inputs' tangents, of which only the transpose exists.
JvpResult custom_vjp_jvp(const Params& params, const Values& in, const Values& t) {
  check_closed_over(custom_vjp_op, params, t);
  const Values args = arguments(params, in);
  Values operands = args;
  const bool symbolic = params.flag(param::symbolic_zeros);
  for (std::size_t i = 0; symbolic && i < args.size(); ++i)
    operands.push_back(t[i] ? args[i] : nullptr);
  std::vector<Values> groups = params.function(param::fwd).call(operands);
  Values out = std::move(groups.at(0));
  const Values residuals = std::move(groups.at(1));
  Ints linear;  // the inputs with a tangent
  operands = residuals;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!t[i]) continue;
    linear.push_back(static_cast<std::int64_t>(i));
    operands.push_back(t[i]);
  }
  Types types;
  std::vector<bool> nonzero;
  for (const Value& value : out) {
    nonzero.push_back(differentiable(value->type()));
    if (nonzero.back()) types.push_back(tangent_type(value->type()));
  }
  if (types.empty()) return {out, Values(out.size())};
  const Values tangents = shardax::bind(custom_lin_op,
                                        {{"name", params.text(param::name)},
                                         {"bwd", params.get(param::bwd)},
                                         {"num_res", static_cast<std::int64_t>(residuals.size())},
                                         {"linear", linear},
                                         {"arguments", static_cast<std::int64_t>(args.size())},
                                         {"out_types", types},
                                         {"symbolic_zeros", symbolic}},
                                        operands);
  return {std::move(out), spread(tangents, nonzero)};
}

Params custom_vjp_with_regions(const Params& params, const Regions& regions) {
  Params out = params.with("call_jaxpr", regions.programs[0]);
  const std::vector<bool> left = results_left(params, regions);
  if (left.empty()) return out;
  out.set("fwd", without_results(params.get(param::fwd), left, 1));
  out.set("bwd", without_cotangents(params.get(param::bwd), call_body(params)->output_types(), left,
                                    params.flag(param::symbolic_zeros)));
  return out;
}

Batched custom_vjp_batch(const BatchArgs& a) {
  if (rules_are_over(a)) return batch_body(a);
  const std::vector<bool> mask = part(a.batched, 0, a.batched.size() - closed_over(a.params));
  const Mask residuals = std::make_shared<std::vector<bool>>();
  CallOverBatch call = call_over_batch(a);
  const std::vector<bool> fwd_mask =
      a.params.flag(param::symbolic_zeros) ? joined(mask, mask) : mask;
  call.params.set("fwd", batched_function(a.params.get(param::fwd), a.axis,
                                          {.batched = fwd_mask,
                                           .results = call.results,
                                           .linear = call.linear,
                                           .free_group = 1,
                                           .free_mask = residuals}));
  std::vector<Mask> bwd_mask{residuals};
  if (call.linear) bwd_mask.push_back(call.linear);
  call.params.set(
      "bwd", batched_function(a.params.get(param::bwd), a.axis, {.rest = bwd_mask, .kept = mask}));
  return call.bind(a.op, a.in);
}

const Op custom_vjp_op{{.name = "custom_vjp_call",
                        .doc = "A function with a reverse derivative of the user's own.",
                        .kind = Kind::control,
                        .type = call_type<&fwd_name, &bwd_name>,
                        .jvp_body = custom_vjp_jvp,
                        .batch = custom_vjp_batch,
                        .regions = call_regions,
                        .with_regions = custom_vjp_with_regions,
                        .eager = call_eager<custom_vjp_op>,
                        .stage = call_stage}};

// ---- custom_lin ----------------------------------------------------------------------------

std::size_t residual_count(const Params& params) { return index(params.integer(param::num_res)); }

Values custom_lin_jvp(const JvpArgs& a) {
  const std::size_t count = residual_count(a.params);
  Values operands = part(a.in, 0, count);
  for (std::size_t i = 0; i < a.t.size(); ++i) {
    if (i >= count) {
      operands.push_back(zeros_if_null(a.t[i], a.in[i]->type()));
    } else if (a.t[i]) {
      type_error("the linear map of the custom_vjp function '", a.params.text(param::name),
                 "' has no derivative by its residuals");
    }
  }
  return shardax::bind(custom_lin_op, a.params, operands);
}

Values custom_lin_transpose(const TransposeArgs& a) {
  const std::size_t count = residual_count(a.params);
  Values operands = part(a.in, 0, count);
  const bool symbolic = a.params.flag(param::symbolic_zeros);
  for (std::size_t i = 0; i < a.ct.size(); ++i)
    operands.push_back(symbolic ? a.ct[i] : zeros_if_null(a.ct[i], a.out_types[i]));
  const Values cts = a.params.function(param::bwd).call(operands).at(0);
  Values out(count);
  for (const std::int64_t i : a.params.ints(param::linear)) out.push_back(cts.at(index(i)));
  return out;
}

Batched custom_lin_batch(const BatchArgs& a) {
  const std::size_t count = residual_count(a.params);
  Values in = a.in;
  for (std::size_t i = count; i < in.size(); ++i) {
    if (!a.batched[i]) in[i] = ops::broadcast_leading(in[i], a.axis.size);
  }
  Types types = a.params.get(param::out_types);
  for (Type& type : types) type.insert_dimension(0, a.axis.size, a.axis.split);
  const Params params = a.params.with("out_types", types)
                            .with("bwd", batched_function(a.params.get(param::bwd), a.axis,
                                                          {.batched = part(a.batched, 0, count)}));
  return all_batched(shardax::bind(a.op, params, in));
}

// The arguments without tangents.
std::vector<std::string> show_custom_lin(const Params& params) {
  const Ints& linear = params.ints(param::linear);
  std::string zeros;
  for (std::int64_t i = 0; i < params.integer(param::arguments); ++i) {
    const bool given = std::find(linear.begin(), linear.end(), i) != linear.end();
    zeros += concat(zeros.empty() ? "" : ", ", given ? "False" : "True");
  }
  return {concat("bwd=", to_string(*params.find("bwd"))), concat("in_zeros=[", zeros, "]"),
          concat("num_res=", residual_count(params)),
          concat("symbolic_zeros=", params.flag(param::symbolic_zeros) ? "True" : "False")};
}

[[noreturn]] Kernel custom_lin_kernel(const Types&, const Types&, const Params& params) {
  type_error("can't apply forward-mode autodiff (jvp) to a custom_vjp function: '",
             params.text(param::name),
             "' has only a reverse rule. Use grad, vjp or jacrev, or define it with custom_jvp.");
}

const Op custom_lin_op{{.name = "custom_lin",
                        .doc = "The linear map whose transpose is a custom_vjp function's rule.",
                        .kind = Kind::control,
                        .type = [](const Op&, const Types&, const Params& params) -> Types {
                          check_functions(params, {bwd_name});
                          return params.get(param::out_types);
                        },
                        .jvp = custom_lin_jvp,
                        .transpose = custom_lin_transpose,
                        .batch = custom_lin_batch,
                        .kernel = custom_lin_kernel,
                        .show = show_custom_lin}};

}  // namespace

Values bind_custom_jvp(const std::string& name, const FunctionPtr& fun, const FunctionPtr& rule,
                       bool symbolic_zeros, const Values& in) {
  return shardax::bind(
      custom_jvp_op,
      {{"name", name}, {"fun", fun}, {"jvp", rule}, {"symbolic_zeros", symbolic_zeros}}, in);
}

Values bind_custom_vjp(const std::string& name, const FunctionPtr& fun, const FunctionPtr& forward,
                       const FunctionPtr& backward, bool symbolic_zeros, const Values& in) {
  return shardax::bind(custom_vjp_op,
                       {{"name", name},
                        {"bwd", backward},
                        {"fun", fun},
                        {"fwd", forward},
                        {"symbolic_zeros", symbolic_zeros}},
                       in);
}

}  // namespace shardax
