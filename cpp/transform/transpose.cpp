// transform/transpose.cpp - walking a linear program backwards.
#include "transform/transpose.h"

#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "ir/regions.h"
#include "ir/sharding_given.h"
#include "ops/ops.h"
#include "runtime/interrupt.h"
#include "transform/dce.h"
#include "transform/jvp.h"

namespace shardax {
namespace {

// The results of an equation that carries programs which depend on known operands alone; null for
// the others.
Values known_results(const Program& program, const Equation& eqn, const Values& in) {
  Values out(eqn.outputs.size());
  if (!eqn.op->regions || eqn.op->regions(eqn.params).fixed) return out;
  const auto alone = MutableProgram(new Program);
  Equation copy{eqn.op, eqn.params, {}, {}, eqn.location, eqn.names};
  for (Var v : eqn.inputs) copy.inputs.push_back(alone->add(program.type(v)));
  for (Var v : eqn.outputs) copy.outputs.push_back(alone->add(program.type(v)));
  alone->inputs.assign(copy.inputs.begin(), copy.inputs.end());
  alone->outputs.assign(copy.outputs.begin(), copy.outputs.end());
  alone->equations.push_back(std::move(copy));
  std::vector<bool> unknown;
  for (const Value& value : in) unknown.push_back(!value);
  std::vector<bool> known(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::vector<bool> one(out.size());
    one[i] = true;
    known[i] = !any(select(unknown, dce_program(alone, one).inputs));
  }
  if (!any(known)) return out;
  const DceProgram part = dce_program(alone, known);
  Values values = evaluate(*part.program, select(in, part.inputs));
  for (std::size_t i = 0, next = 0; i < out.size(); ++i) {
    if (known[i]) out[i] = std::move(values[next++]);
  }
  return out;
}

// The values that do not depend on linear inputs, computed forwards; null for the others. With
// `within`, results of equations that mix both are looked for too.
Values known_values(const Program& program, const std::vector<bool>& linear, const Values& inputs,
                    bool within) {
  Values env(program.types.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!linear[i]) env[index(program.inputs[i])] = inputs[i];
  }
  for (const Constant& c : program.constants) env[index(c.var)] = c.value;
  for (const Equation& eqn : program.equations) {
    Values in;
    for (Var v : eqn.inputs) in.push_back(env[index(v)]);
    const bool mixed = std::any_of(in.begin(), in.end(), [](const Value& v) { return !v; });
    if (mixed && !within) continue;
    const NamesScope names(nested(current_names(), eqn.names));
    Values out = mixed ? known_results(program, eqn, in) : shardax::bind(*eqn.op, eqn.params, in);
    for (std::size_t i = 0; i < out.size(); ++i) {
      env[index(eqn.outputs[i])] = out[i];
    }
  }
  return env;
}

// A map that is known by a function of the user's alone, which may give cotangents for none.
bool asks_the_user(const Op& op) { return op.kind == Kind::control && !op.regions; }

// For each equation, is it such a map with a result that an output depends on?
std::vector<bool> asked_for_zeros(const Program& program) {
  const std::vector<Equation>& equations = program.equations;
  std::vector<bool> asked(equations.size());
  if (std::none_of(equations.begin(), equations.end(),
                   [](const Equation& eqn) { return asks_the_user(*eqn.op); })) {
    return asked;
  }
  std::vector<bool> used(program.types.size());
  for (Var v : program.outputs) used[index(v)] = true;
  for (std::size_t i = equations.size(); i-- > 0;) {
    const Equation& eqn = equations[i];
    if (std::none_of(eqn.outputs.begin(), eqn.outputs.end(),
                     [&](Var v) { return used[index(v)]; })) {
      continue;
    }
    asked[i] = asks_the_user(*eqn.op);
    for (Var v : eqn.inputs) used[index(v)] = true;
  }
  return asked;
}

// A cotangent over explicit axes is split as its primal is.
Value split_as(const Type& primal, const Value& ct) {
  const ShardingPtr sharding = of_cotangent(primal.sharding);
  if (!sharding || same_sharding(sharding, ct->type().sharding)) return ct;
  return ops::sharding_constraint(ct, sharding, {});
}

// Converts a cotangent that the user's own rule gave in another dtype, as earlier ops take it. For
// a real number, the real part of a complex one.
Value typed_as(const Type& primal, const Value& ct) {
  if (!ct || !differentiable(primal) || ct->dtype() == DType::float0) return ct;
  const DType wanted = tangent_type(primal).dtype;
  if (ct->dtype() == wanted) return ct;
  const bool drops = is_complex(ct->dtype()) && !is_complex(wanted);
  return ops::convert(drops ? ops::unary("real", ct) : ct, wanted);
}

GivenTranspose given_transpose = nullptr;

// `at` is the op whose rule is being asked.
Values backward(const Program& program, const std::vector<bool>& linear, const Values& env,
                const Values& cotangents, std::string_view& at) {
  Values ct(program.types.size());
  const auto accumulate = [&](Var v, const Value& value) {
    if (!value) return;
    Value& slot = ct[index(v)];
    if (!slot) {
      slot = value;
    } else if (slot->dtype() == value->dtype() && value->dtype() != DType::boolean) {
      slot = ops::binary("add_any", slot, value);
    } else {
      const Type& type = program.type(v);
      slot = ops::binary("add_any", typed_as(type, slot), typed_as(type, value));
    }
  };
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const Value& given = cotangents[i];
    accumulate(program.outputs[i],
               given ? split_as(program.type(program.outputs[i]), given) : given);
  }

  const std::vector<bool> asked = asked_for_zeros(program);
  for (auto eqn = program.equations.rbegin(); eqn != program.equations.rend(); ++eqn) {
    runtime::poll_caller();
    Values out_ct;
    bool needed = asked[index(program.equations.rend() - eqn - 1)];
    Types out_types;
    for (Var v : eqn->outputs) {
      Value& slot = ct[index(v)];
      needed = needed || slot;
      out_ct.push_back(typed_as(program.type(v), slot));
      slot = nullptr;
      out_types.push_back(program.type(v));
    }
    const bool known =
        std::all_of(eqn->outputs.begin(), eqn->outputs.end(), [&](Var v) { return env[index(v)]; });
    if (!needed || known) continue;
    Values in;
    Types in_types;
    for (Var v : eqn->inputs) {
      in.push_back(env[index(v)]);
      in_types.push_back(program.type(v));
    }
    if (!eqn->op->transpose && !given_transpose) {
      fail(ErrorKind::not_implemented_error,
           "Transpose rule (for reverse-mode differentiation) for '", eqn->op->name,
           "' not implemented.");
    }
    const NamesScope names(nested(current_names(), eqn->names));
    at = eqn->op->name;
    const TransposeArgs args{eqn->params, out_ct, in, in_types, out_types};
    const Values in_ct =
        eqn->op->transpose ? eqn->op->transpose(args) : given_transpose(*eqn->op, args);
    for (std::size_t i = 0; i < in_ct.size(); ++i) {
      if (in_ct[i] && !in[i]) accumulate(eqn->inputs[i], split_as(in_types[i], in_ct[i]));
    }
  }
  Values result;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (linear[i]) result.push_back(ct[index(program.inputs[i])]);
  }
  return result;
}

}  // namespace

Values backward(const Program& program, const std::vector<bool>& linear, const Values& inputs,
                const Values& cotangents) {
  check_stack("a program within programs");
  const ShardingGiven asked_already;
  std::string_view at;
  for (const bool within : {false, true}) {
    try {
      return backward(program, linear, known_values(program, linear, inputs, within), cotangents,
                      at);
    } catch (const MissingOperand&) {  // a rule needs the value of an operand that has none
    }
  }
  fail(ErrorKind::value_error, "the function is not linear: '", at,
       "' needs the values of operands that the function is transposed by. Transpose linear "
       "functions only; grad and vjp linearize a function first.");
}

void set_given_transpose(GivenTranspose rule) { given_transpose = rule; }

ProgramPtr transpose_program(const ProgramPtr& program, const std::vector<bool>& linear,
                             const std::vector<bool>& nonzero_ct, bool as_given) {
  const std::string key =
      mask_key(mask_key(as_given ? "transpose as given" : "transpose", linear), nonzero_ct);
  return *program->derived<ProgramPtr>(key, [&] {
    Types types;
    for (std::size_t i = 0; i < program->inputs.size(); ++i) {
      if (!linear[i]) types.push_back(program->type(program->inputs[i]));
    }
    for (std::size_t i = 0; i < program->outputs.size(); ++i) {
      if (nonzero_ct[i]) types.push_back(program->type(program->outputs[i]));
    }
    return std::make_shared<ProgramPtr>(stage_closed(
        types,
        [&](const Values& in) {
          std::size_t next = 0;
          Values inputs(program->inputs.size());
          for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (!linear[i]) inputs[i] = in[next++];
          }
          Values cts(program->outputs.size());
          for (std::size_t i = 0; i < cts.size(); ++i) {
            if (nonzero_ct[i]) cts[i] = in[next++];
          }
          Values out = backward(*program, linear, inputs, cts);
          for (std::size_t i = 0, k = 0; i < program->inputs.size(); ++i) {
            if (!linear[i]) continue;
            const Type& type = program->type(program->inputs[i]);
            if (!out[k]) out[k] = ops::zeros(type);
            if (!as_given) out[k] = typed_as(type, out[k]);
            ++k;
          }
          return out;
        },
        program->name));
  });
}

Values apply_transpose(const LinearMap& map, const Values& cotangents) {
  const std::size_t count = map.in_types.size();
  Values inputs(count);
  inputs.insert(inputs.end(), map.residuals.begin(), map.residuals.end());
  std::vector<bool> linear(inputs.size(), false);
  std::fill_n(linear.begin(), count, true);
  Values cts;
  for (std::size_t i = 0; i < map.nonzero.size(); ++i) {
    if (map.nonzero[i]) cts.push_back(cotangents[i]);
  }
  return backward(*map.program, linear, inputs, cts);
}

}  // namespace shardax
