// control/checkpoint.cpp - checkpoint (remat2): a call whose intermediate values are computed again
// when the derivative needs them, rather than kept.
#include <algorithm>

#include "base/errors.h"
#include "base/index.h"
#include "control/call_jvp.h"
#include "control/checkpoint_saved.h"
#include "ops/callback.h"
#include "ops/ops.h"
#include "transform/inline_calls.h"

namespace shardax {
namespace {

extern const Op checkpoint_op;

const CheckpointPolicy* policy_of(const Params& params) {
  const auto* function = std::get_if<FunctionPtr>(params.find("policy"));
  return function ? static_cast<const CheckpointPolicy*>(function->get()) : nullptr;
}

// The inputs that a second evaluation must not share with the first: all or none, or some.
std::vector<bool> barriers_of(const Params& params, std::size_t inputs) {
  const ParamValue* prevent = params.find("prevent_cse");
  if (const auto* all = std::get_if<bool>(prevent)) return std::vector<bool>(inputs, *all);
  const Ints& some = std::get<Ints>(*prevent);
  return std::vector<bool>(some.begin(), some.end());
}

ParamValue prevent_cse(const std::vector<bool>& barriers) {
  const std::size_t count = count_true(barriers);
  if (count == 0 || count == barriers.size()) return count > 0 || barriers.empty();
  return Ints(barriers.begin(), barriers.end());
}

// Values that come after the op's own inputs are kept from being shared where any is.
Params with_more_inputs(const Params& params, const std::vector<bool>& barriers, std::size_t more) {
  return params.with("prevent_cse",
                     prevent_cse(joined(barriers, std::vector<bool>(more, any(barriers)))));
}

Params params_with(const Params& params, const ProgramPtr& body, bool differentiated) {
  return params.with("jaxpr", body).with("differentiated", differentiated);
}

// Calls in place of their regions, so that a policy sees every op.
ProgramPtr flat(const ProgramPtr& program) { return inlined(program, &checkpoint_op); }

// The values that the policy chooses, in loops and branches too.
SavingProgram keeping(const ProgramPtr& program, const CheckpointPolicy& policy) {
  const ProgramPtr body = flat(program);
  SavingProgram out;
  const MutableProgram forward = copy_of(*body), again = copy_of(*body);
  again->equations.clear();
  std::vector<bool> computed(body->types.size()), held(body->types.size());
  const auto hold = [&](Var v) {
    if (index(v) < held.size()) held[index(v)] = true;
    forward->outputs.push_back(v);
    again->inputs.push_back(v);
    out.kept.push_back(forward->type(v));
  };
  // An equation without results is repeated if all of its operands are.
  const auto is_computed_again = [&](Var v) { return computed[index(v)] && !held[index(v)]; };
  for (Equation& eqn : forward->equations) {
    for (const Var v : eqn.outputs) computed[index(v)] = true;
    if (policy.saves(*body, eqn)) {
      for (Var v : eqn.outputs) hold(v);
      if (eqn.outputs.empty() && !eqn.inputs.empty() &&
          std::ranges::all_of(eqn.inputs, is_computed_again))
        again->equations.push_back(eqn);
      continue;
    }
    again->equations.push_back(eqn);
    if (!can_keep(*eqn.op, eqn.params)) continue;
    const SavingCall call =
        keep(*eqn.op, eqn.params, [&](const ProgramPtr& inner) { return keeping(inner, policy); });
    if (call.kept.empty()) continue;
    eqn.params = call.forward;
    again->equations.back().params = call.again;
    for (const Type& type : call.kept) {
      const Var v = forward->add(type);
      again->types.push_back(type);
      eqn.outputs.push_back(v);
      again->equations.back().inputs.push_back(v);
      hold(v);
    }
  }
  out.forward = forward;
  out.again = again;
  return out;
}

// The parts of a checkpoint under linearize. forward: inputs -> outputs, kept values. linear: the
// inputs in `inputs`, kept values, tangents -> tangents of the outputs; it computes the residuals
// anew.
struct Parts {
  FunctionPtr policy;  // kept alive: its address is part of the key under which this is kept
  ProgramPtr forward;
  ProgramPtr linear;
  std::vector<bool> inputs;
  std::vector<bool> nonzero;
};

Parts split(const ProgramPtr& body, const CheckpointPolicy* policy,
            const std::vector<bool>& barriers, const std::vector<bool>& nonzero) {
  if (does_io(*body)) {
    fail(ErrorKind::not_implemented_error,
         "Effects not supported in partial-eval of `checkpoint`/`remat`: io_callback in ",
         body->name, " would run once more. Call it outside of the checkpointed function.");
  }
  const LinearizedProgram halves = linearize_program(policy ? flat(body) : body, nonzero);
  const SavingProgram parts =
      policy ? keeping(halves.known, *policy) : SavingProgram{halves.known, halves.known, {}};
  const std::size_t outputs = body->outputs.size(), inputs = body->inputs.size();
  const std::vector<bool> results(outputs, true), residuals(halves.residual_count, true);
  const DceProgram again =
      dce_program(parts.again, joined(std::vector<bool>(outputs, false), residuals));
  const std::vector<bool> kept = part(again.inputs, inputs, parts.kept.size());
  const std::vector<bool> every_input(inputs, true);
  const DceProgram forward = dce_program(
      parts.forward, joined(joined(results, std::vector<bool>(halves.residual_count, false)), kept),
      &every_input);

  const std::vector<bool> used = part(again.inputs, 0, inputs);
  const std::vector<bool> held = select(barriers, used);
  Types types = again.program->input_types();
  const std::size_t operands = types.size();
  const Types linear_types = halves.linear->input_types();
  types.insert(types.end(),
               linear_types.begin() + static_cast<std::ptrdiff_t>(halves.residual_count),
               linear_types.end());
  const ProgramPtr linear = stage_closed(
      types,
      [&](const Values& in) {
        Values inputs = part(in, 0, operands);
        for (std::size_t i = 0; i < operands; ++i) {
          const bool barrier = i < held.size() ? held[i] : any(barriers);
          if (barrier) inputs[i] = ops::optimization_barrier(inputs[i]);
        }
        const Values computed = evaluate(*again.program, inputs);
        return evaluate(*halves.linear, joined(computed, part(in, operands, in.size() - operands)));
      },
      body->name);
  return {FunctionPtr(policy), forward.program, linear, used, halves.nonzero};
}

JvpResult checkpoint_jvp(const Params& params, const Values& in, const Values& t) {
  return call_jvp(
      params.program(param::jaxpr), in, t, [&](const ProgramPtr& body, const Values& all) {
        const Params more =
            with_more_inputs(params, barriers_of(params, in.size()), all.size() - in.size());
        return shardax::bind(checkpoint_op, more.with("jaxpr", body), all);
      });
}

Linearized checkpoint_linearize(const Params& params, const Values& in,
                                const std::vector<bool>& nonzero) {
  const ProgramPtr& body = params.program(param::jaxpr);
  const CheckpointPolicy* policy = policy_of(params);
  const std::vector<bool> barriers = barriers_of(params, in.size());
  const std::string key =
      mask_key(concat("checkpoint", static_cast<const void*>(policy)), joined(barriers, nonzero));
  const Parts parts = *body->derived<Parts>(
      key, [&] { return std::make_shared<Parts>(split(body, policy, barriers, nonzero)); });
  const Values results =
      shardax::bind(checkpoint_op, params_with(params, parts.forward, false), in);
  const std::size_t outputs = body->outputs.size();
  Linearized result;
  result.out = part(results, 0, outputs);
  const Values operands =
      joined(select(in, parts.inputs), part(results, outputs, results.size() - outputs));
  const std::vector<bool> used = select(barriers, parts.inputs);
  const Params linear = with_more_inputs(params_with(params, parts.linear, true), used,
                                         operands.size() - used.size() + count_true(nonzero));
  result.linear = [linear, operands, nonzero, mask = parts.nonzero](const Values& t) {
    return spread(shardax::bind(checkpoint_op, linear, joined(operands, select(t, nonzero))), mask);
  };
  return result;
}

Values checkpoint_transpose(const TransposeArgs& a) {
  const TransposedCall call = transposed_call(a.params.program(param::jaxpr), a);
  const std::vector<bool> barriers = select(barriers_of(a.params, a.in.size()), call.known);
  const Params params =
      with_more_inputs(params_with(a.params, call.program, true), barriers, call.cotangents);
  return call.placed(shardax::bind(checkpoint_op, params, call.in));
}

Batched checkpoint_batch(const BatchArgs& a) {
  const BatchedProgram body = batch_program(a.params.program(param::jaxpr), a.batched, a.axis);
  return {shardax::bind(a.op, a.params.with("jaxpr", body.program), a.in), body.batched};
}

// Operands that are new are kept from being shared where any is.
Params checkpoint_with_regions(const Params& params, const Regions& regions) {
  const std::vector<bool> before = barriers_of(params, params.program(param::jaxpr)->inputs.size());
  std::vector<bool> barriers;
  for (const RegionPort& port : regions.operands)
    barriers.push_back(port.source < 0 ? any(before) : before[index(port.source)]);
  return params.with("jaxpr", regions.programs[0]).with("prevent_cse", prevent_cse(barriers));
}

Types checkpoint_type(const Op&, const Types& in, const Params& params) {
  const ParamValue* policy = params.find("policy");
  if (!policy || (!std::holds_alternative<FunctionPtr>(*policy) &&
                  !std::holds_alternative<std::monostate>(*policy)))
    params.function(param::policy);
  const ParamValue* prevent = params.find("prevent_cse");
  const auto* some = prevent ? std::get_if<Ints>(prevent) : nullptr;
  if (!some) {
    params.flag(param::prevent_cse);
  } else if (some->size() != in.size()) {
    value_error("checkpoint: prevent_cse has ", some->size(), " entries for ", in.size(),
                " operands.");
  }
  params.flag(param::differentiated);
  return params.program(param::jaxpr)->output_types();
}

const Op checkpoint_op{
    {.name = "remat2",
     .doc = "Calls a program; its derivative computes it again.",
     .kind = Kind::control,
     .type = checkpoint_type,
     .jvp_body = checkpoint_jvp,
     .linearize = checkpoint_linearize,
     .transpose = checkpoint_transpose,
     .batch = checkpoint_batch,
     .regions = [](const Params& params) { return call_of(params.program(param::jaxpr)); },
     .with_regions = checkpoint_with_regions}};

}  // namespace

Values bind_checkpoint(const ProgramPtr& body, const FunctionPtr& policy,
                       const std::vector<bool>& barriers, const Values& in) {
  return shardax::bind(checkpoint_op,
                       {{"differentiated", false},
                        {"jaxpr", body},
                        {"policy", policy ? ParamValue(policy) : ParamValue()},
                        {"prevent_cse", prevent_cse(barriers)}},
                       in);
}

}  // namespace shardax
