// control/jit.cpp - jit: a call of a program.
#include <cstddef>
#include <vector>

#include "base/index.h"
#include "control/call_jvp.h"
#include "ops/ops.h"

namespace shardax {

Values spread(const Values& values, const std::vector<bool>& mask) {
  Values out;
  std::size_t next = 0;
  for (bool selected : mask) out.push_back(selected ? values[next++] : Value());
  return out;
}

std::vector<bool> nonnull(const Values& values) {
  std::vector<bool> mask;
  for (const Value& value : values) mask.push_back(bool(value));
  return mask;
}

std::vector<bool> carry_fixpoint(
    std::vector<bool> carry,
    const std::function<std::vector<bool>(const std::vector<bool>&)>& once) {
  for (;;) {
    const std::vector<bool> next = once(carry);
    bool grown = false;
    for (std::size_t i = 0; i < carry.size(); ++i) {
      if (next[i] && !carry[i]) carry[i] = grown = true;
    }
    if (!grown) return carry;
  }
}

Value zeros_if_null(const Value& value, const Type& type) {
  return value ? value : ops::zeros(type);
}

namespace {

extern const Op jit_op;

// The call that `params` describe, of another body.
Values call(const Params& params, const ProgramPtr& body, const Values& in) {
  return shardax::bind(jit_op, params.with("jaxpr", body), in);
}

JvpResult jit_jvp(const Params& params, const Values& in, const Values& t) {
  return call_jvp(
      params.program(param::jaxpr), in, t,
      [&](const ProgramPtr& body, const Values& all) { return call(params, body, all); });
}

// A known half whose residuals are no inputs and no other outputs.
struct LeanKnown {
  ProgramPtr program;
  // The position of each output of the known half among the inputs and then the outputs of
  // `program`.
  std::vector<std::size_t> places;
};

// `outputs`: how many of its outputs are no residuals.
const LeanKnown& lean_known(const ProgramPtr& known, std::size_t outputs) {
  return *known->derived<LeanKnown>("lean_known", [&] {
    const auto lean = std::make_shared<LeanKnown>();
    const MutableProgram copy = copy_of(*known);
    copy->outputs.resize(outputs);
    std::vector<std::ptrdiff_t> places(known->types.size(), -1);
    const auto at = [&](Var v) -> std::ptrdiff_t& { return places[index(v)]; };
    std::ptrdiff_t next = 0;
    const auto place = [&](Var v) {
      if (at(v) < 0) at(v) = next;
      ++next;
    };
    for (const Var v : known->inputs) place(v);
    for (const Var v : copy->outputs) place(v);
    for (std::size_t i = 0; i < known->outputs.size(); ++i) {
      const Var v = known->outputs[i];
      if (at(v) < 0) {
        place(v);
        copy->outputs.push_back(v);
      }
      lean->places.push_back(i < outputs ? known->inputs.size() + i : index(at(v)));
    }
    lean->program = copy;
    return lean;
  });
}

Linearized jit_linearize(const Params& params, const Values& in, const std::vector<bool>& nonzero) {
  const ProgramPtr& body = params.program(param::jaxpr);
  const LinearizedProgram parts = linearize_program(body, nonzero);
  const LeanKnown& lean = lean_known(parts.known, body->outputs.size());
  const Values found = joined(in, call(params, lean.program, in));
  Values known;
  for (const std::size_t place : lean.places) known.push_back(found[place]);
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(body->outputs.size());
  Linearized result;
  result.out = Values(known.begin(), middle);
  const Values residuals(middle, known.end());
  result.linear = [parts, residuals, nonzero, params](const Values& t) {
    return spread(call(params, parts.linear, joined(residuals, select(t, nonzero))), parts.nonzero);
  };
  return result;
}

Batched jit_batch(const BatchArgs& a) {
  const BatchedProgram body = batch_program(a.params.program(param::jaxpr), a.batched, a.axis);
  return {call(a.params, body.program, a.in), body.batched};
}

const Op jit_op{
    {.name = "jit",
     .doc = "Calls a program.",
     .kind = Kind::control,
     .type = [](const Op&, const Types&, const Params& params) -> Types {
       return params.program(param::jaxpr)->output_types();
     },
     .jvp_body = jit_jvp,
     .linearize = jit_linearize,
     .transpose = [](const TransposeArgs& a) -> Values {
       return transpose_call(a.params.program(param::jaxpr), a);
     },
     .batch = jit_batch,
     .regions = [](const Params& params) { return call_of(params.program(param::jaxpr)); },
     .with_regions =
         [](const Params& params, const Regions& regions) {
           return params.with("jaxpr", regions.programs[0]);
         }}};

}  // namespace

Values bind_jit(const ProgramPtr& body, const Values& in) {
  return shardax::bind(jit_op, {{"name", body->name}, {"jaxpr", body}}, in);
}

TransposedCall transposed_call(const ProgramPtr& body, const TransposeArgs& a) {
  const std::vector<bool> known = nonnull(a.in), nonzero = nonnull(a.ct);
  return {transpose_program(body, inverse(known), nonzero, true),
          joined(select(a.in, known), select(a.ct, nonzero)), known, count_true(nonzero)};
}

Values transpose_call(const ProgramPtr& body, const TransposeArgs& a) {
  const TransposedCall call = transposed_call(body, a);
  return call.placed(bind_jit(call.program, call.in));
}

}  // namespace shardax
