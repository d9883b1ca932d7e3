// control/checkpoint.cpp - checkpoint (remat2): a call whose intermediate values are computed again
// when the derivative needs them, rather than kept.
#include "base/errors.h"
#include "control/control.h"
#include "ops/ops.h"

namespace shardax {
namespace {

extern const Op checkpoint_op;

const CheckpointPolicy* policy_of(const Params& params) {
  const auto* function = std::get_if<FunctionPtr>(params.find("policy"));
  return function ? static_cast<const CheckpointPolicy*>(function->get()) : nullptr;
}

Params params_with(const Params& params, const ProgramPtr& body, bool differentiated) {
  return params.with("jaxpr", body).with("differentiated", differentiated);
}

// Calls that are only calls in place of their bodies, so that a policy sees every op.
Values evaluate_flat(const Program& program, const Values& inputs) {
  Values env(program.types.size());
  const auto at = [&](Var v) -> Value& { return env[static_cast<std::size_t>(v)]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) at(program.inputs[i]) = inputs[i];
  for (const Constant& c : program.constants) at(c.var) = c.value;
  for (const Equation& eqn : program.equations) {
    const LocationScope location(eqn.location);
    Values in;
    for (Var v : eqn.inputs) in.push_back(at(v));
    const bool call = eqn.op->body && !eqn.op->stage && eqn.op != &checkpoint_op;
    const Values out = call ? evaluate_flat(*eqn.op->body(eqn.params), in)
                            : shardax::bind(*eqn.op, eqn.params, in);
    for (std::size_t i = 0; i < out.size(); ++i) at(eqn.outputs[i]) = out[i];
  }
  Values outputs;
  for (Var v : program.outputs) outputs.push_back(at(v));
  return outputs;
}

ProgramPtr flat(const ProgramPtr& program) {
  return stage_closed(
      program->input_types(), [&](const Values& in) { return evaluate_flat(*program, in); },
      program->name);
}

// Which variables the outputs need, where those in `given` are known without their equations.
std::vector<bool> needed_for(const Program& program, const std::vector<Var>& outputs,
                             const std::vector<bool>& given) {
  std::vector<bool> needed(program.types.size(), false);
  const auto index = [](Var v) { return static_cast<std::size_t>(v); };
  for (Var v : outputs) needed[index(v)] = true;
  for (auto eqn = program.equations.rbegin(); eqn != program.equations.rend(); ++eqn) {
    const bool used = has_effects(*eqn) ||
                      std::any_of(eqn->outputs.begin(), eqn->outputs.end(),
                                  [&](Var v) { return needed[index(v)] && !given[index(v)]; });
    if (!used) continue;
    for (Var v : eqn->inputs) needed[index(v)] = true;
  }
  return needed;
}

void keep_needed(Program& program, const std::vector<bool>& needed,
                 const std::vector<bool>& given) {
  std::erase_if(program.equations, [&](const Equation& eqn) {
    return !has_effects(eqn) && std::none_of(eqn.outputs.begin(), eqn.outputs.end(), [&](Var v) {
      return needed[static_cast<std::size_t>(v)] && !given[static_cast<std::size_t>(v)];
    });
  });
}

// The parts of a checkpoint under linearize. forward: inputs -> outputs, saved values.
// linear: inputs, saved values, tangents -> tangents of the outputs; it computes the residuals
// anew.
struct Parts {
  FunctionPtr policy;  // kept alive: its address is part of the key under which this is kept
  ProgramPtr forward;
  ProgramPtr linear;
  std::vector<bool> nonzero;
};

Parts split(const ProgramPtr& body, const CheckpointPolicy* policy, bool barrier,
            const std::vector<bool>& nonzero) {
  const LinearizedProgram halves = linearize_program(policy ? flat(body) : body, nonzero);
  const ProgramPtr known = policy ? flat(halves.known) : halves.known;
  const std::size_t outputs = body->outputs.size();
  const std::vector<Var> results(known->outputs.begin(),
                                 known->outputs.begin() + static_cast<std::ptrdiff_t>(outputs));
  const std::vector<Var> residuals(known->outputs.begin() + static_cast<std::ptrdiff_t>(outputs),
                                   known->outputs.end());
  std::vector<bool> given(known->types.size(), false);
  if (policy) {
    for (const Equation& eqn : known->equations) {
      if (!policy->saves(*known, eqn)) continue;
      for (Var v : eqn.outputs) given[static_cast<std::size_t>(v)] = true;
    }
  }
  const std::vector<bool> needed = needed_for(*known, residuals, given);
  std::vector<Var> saved;
  for (std::size_t v = 0; v < given.size(); ++v) {
    if (given[v] && needed[v]) saved.push_back(static_cast<Var>(v));
  }

  std::vector<Var> wanted = results;
  wanted.insert(wanted.end(), saved.begin(), saved.end());
  const std::vector<bool> nothing(given.size(), false);
  MutableProgram forward = copy_of(*known);
  forward->outputs = wanted;
  keep_needed(*forward, needed_for(*known, wanted, nothing), nothing);

  MutableProgram again = copy_of(*known);
  again->outputs = residuals;
  again->inputs.insert(again->inputs.end(), saved.begin(), saved.end());
  keep_needed(*again, needed, given);

  Types types = again->input_types();
  const std::size_t operands = types.size();
  const Types linear_types = halves.linear->input_types();
  types.insert(types.end(),
               linear_types.begin() + static_cast<std::ptrdiff_t>(halves.residual_count),
               linear_types.end());
  const ProgramPtr linear = stage_closed(
      types,
      [&](const Values& in) {
        Values inputs = part(in, 0, operands);
        if (barrier) {
          for (Value& value : inputs) value = ops::optimization_barrier(value);
        }
        const Values computed = evaluate(*again, inputs);
        return evaluate(*halves.linear, joined(computed, part(in, operands, in.size() - operands)));
      },
      body->name);
  return {FunctionPtr(policy), forward, linear, halves.nonzero};
}

JvpResult checkpoint_jvp(const Params& params, const Values& in, const Values& t) {
  const std::vector<bool> nonzero = nonnull(t);
  const ProgramPtr& body = params.program("jaxpr");
  const JvpProgram derivative = jvp_program(body, nonzero);
  const Values both = shardax::bind(checkpoint_op, params.with("jaxpr", derivative.program),
                                    joined(in, select(t, nonzero)));
  const std::size_t outputs = body->outputs.size();
  return {part(both, 0, outputs),
          spread(part(both, outputs, both.size() - outputs), derivative.nonzero)};
}

Linearized checkpoint_linearize(const Params& params, const Values& in,
                                const std::vector<bool>& nonzero) {
  const ProgramPtr& body = params.program("jaxpr");
  const CheckpointPolicy* policy = policy_of(params);
  const bool barrier = params.flag("prevent_cse");
  const Parts parts = *body->derived<Parts>(
      mask_key(concat("checkpoint", static_cast<const void*>(policy), barrier), nonzero),
      [&] { return std::make_shared<Parts>(split(body, policy, barrier, nonzero)); });
  const Values results =
      shardax::bind(checkpoint_op, params_with(params, parts.forward, false), in);
  const std::size_t outputs = body->outputs.size();
  Linearized result;
  result.out = part(results, 0, outputs);
  const Values operands = joined(in, part(results, outputs, results.size() - outputs));
  const Params linear = params_with(params, parts.linear, true);
  result.linear = [linear, operands, nonzero, mask = parts.nonzero](const Values& t) {
    return spread(shardax::bind(checkpoint_op, linear, joined(operands, select(t, nonzero))), mask);
  };
  return result;
}

Values checkpoint_transpose(const TransposeArgs& a) {
  std::vector<bool> linear;
  Values known;
  for (const Value& value : a.in) {
    linear.push_back(!value);
    if (value) known.push_back(value);
  }
  const std::vector<bool> nonzero = nonnull(a.ct);
  const ProgramPtr backward = transpose_program(a.params.program("jaxpr"), linear, nonzero);
  return spread(shardax::bind(checkpoint_op, params_with(a.params, backward, true),
                              joined(known, select(a.ct, nonzero))),
                linear);
}

Batched checkpoint_batch(const BatchArgs& a) {
  const BatchedProgram body = batch_program(a.params.program("jaxpr"), a.batched, a.axis);
  return {shardax::bind(a.op, a.params.with("jaxpr", body.program), a.in), body.batched};
}

const Op checkpoint_op{
    {.name = "remat2",
     .doc = "Calls a program; its derivative computes it again.",
     .kind = Kind::control,
     .type = [](const Op&, const Types&, const Params& params) -> Types {
       return params.program("jaxpr")->output_types();
     },
     .jvp_body = checkpoint_jvp,
     .linearize = checkpoint_linearize,
     .transpose = checkpoint_transpose,
     .batch = checkpoint_batch,
     .body = [](const Params& params) -> const ProgramPtr& { return params.program("jaxpr"); }}};

}  // namespace

Values bind_checkpoint(const ProgramPtr& body, const FunctionPtr& policy, bool prevent_cse,
                       const Values& in) {
  return shardax::bind(checkpoint_op,
                       {{"differentiated", false},
                        {"jaxpr", body},
                        {"policy", policy ? ParamValue(policy) : ParamValue()},
                        {"prevent_cse", prevent_cse}},
                       in);
}

}  // namespace shardax
