// control/while.cpp - while: repeats a body as long as a condition holds.
//
// Inputs: constants of the condition, constants of the body, carry. It has a forward derivative;
// its length is unknown beforehand, so it has no transpose.
#include "base/errors.h"
#include "base/index.h"
#include "control/map_divergent.h"
#include "ops/callback.h"
#include "ops/ops.h"

namespace shardax {
namespace {

extern const Op while_op;

struct WhileParams {
  ProgramPtr cond, body;
  std::size_t cond_consts, body_consts;
  explicit WhileParams(const Params& p)
      : cond(p.program(param::cond_jaxpr)),
        body(p.program(param::body_jaxpr)),
        cond_consts(index(p.integer(param::cond_nconsts))),
        body_consts(index(p.integer(param::body_nconsts))) {}
  std::size_t carry() const { return body->outputs.size(); }
};

Values bind_while(const Params& params, const ProgramPtr& cond, const ProgramPtr& body,
                  std::size_t body_consts, const Values& in) {
  return shardax::bind(while_op,
                       params.with("cond_jaxpr", cond)
                           .with("body_jaxpr", body)
                           .with("body_nconsts", static_cast<std::int64_t>(body_consts)),
                       in);
}

// The condition over a longer carry, of which it reads the first part.
ProgramPtr with_more_carry(const WhileParams& p, const Types& more) {
  MutableProgram out = copy_of(*p.cond);
  for (const Type& type : more) out->inputs.push_back(out->add(type));
  return out;
}

JvpResult while_jvp(const Params& params, const Values& in, const Values& t) {
  const WhileParams p(params);
  const std::size_t first = p.cond_consts + p.body_consts;
  const std::vector<bool> nonzero = nonnull(t);
  const std::vector<bool> consts = part(nonzero, p.cond_consts, p.body_consts);
  const std::vector<bool> carry = carry_fixpoint(
      part(nonzero, first, p.carry()),
      [&](const std::vector<bool>& c) { return jvp_program(p.body, joined(consts, c)).nonzero; });
  const JvpProgram d = jvp_program(p.body, joined(consts, carry), &carry);
  Values const_t, carry_t;
  Types carry_types;
  for (std::size_t i = 0; i < p.body_consts; ++i) {
    if (consts[i]) const_t.push_back(t[p.cond_consts + i]);
  }
  for (std::size_t i = 0; i < p.carry(); ++i) {
    if (!carry[i]) continue;
    carry_types.push_back(tangent_type(in[first + i]->type()));
    carry_t.push_back(zeros_if_null(t[first + i], carry_types.back()));
  }
  // The derivative takes consts, carry, then tangents; the loop wants all constants first.
  MutableProgram body = copy_of(*d.program);
  const auto& old = d.program->inputs;
  const std::size_t n = p.body_consts + p.carry();
  body->inputs.assign(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(p.body_consts));
  const auto tangent_consts = old.begin() + static_cast<std::ptrdiff_t>(n);
  body->inputs.insert(body->inputs.end(), tangent_consts,
                      tangent_consts + static_cast<std::ptrdiff_t>(const_t.size()));
  body->inputs.insert(body->inputs.end(), old.begin() + static_cast<std::ptrdiff_t>(p.body_consts),
                      tangent_consts);
  body->inputs.insert(body->inputs.end(),
                      tangent_consts + static_cast<std::ptrdiff_t>(const_t.size()), old.end());
  const Values both = bind_while(
      params, with_more_carry(p, carry_types), body, p.body_consts + const_t.size(),
      joined(joined(joined(part(in, 0, first), const_t), part(in, first, p.carry())), carry_t));
  return {part(both, 0, p.carry()), spread(part(both, p.carry(), carry_t.size()), carry)};
}

// The known loop runs once for the results and once more beside the tangents. Its length is not
// known before, so there is no memory for the residuals of its steps.
Linearized while_linearize(const Params& params, const Values& in, const std::vector<bool>&) {
  return {shardax::bind(while_op, params, in),
          [params, in](const Values& t) { return while_jvp(params, in, t).t; }};
}

// The condition that all devices share.
BatchedProgram agreed_condition(const BatchedProgram& cond, const Collective& collective,
                                AxisName axis) {
  const ProgramPtr program = stage_closed(
      cond.program->input_types(),
      [&](const Values& v) -> Values {
        const Value choice = ops::convert(evaluate(*cond.program, v)[0], DType::int32);
        const Value shared = agreed(choice, {false, true}, collective, axis, "while_loop");
        return {ops::ne(shared, ops::scalar(DType::int32, 0))};
      },
      cond.program->name);
  return {program, {false}};
}

// A condition that varies over the batch holds until no slice wants to go on; slices that are done
// keep their carry. Such a loop is marked: the results of its body for them are not to be looked
// at.
//
// Over a device axis each slice runs its own loop. With a collective over the axis inside, all
// devices must agree, each time, about going on.
Batched while_batch(const BatchArgs& a) {
  const WhileParams p(a.params);
  const std::size_t first = p.cond_consts + p.body_consts;
  const std::vector<bool> cond_consts = part(a.batched, 0, p.cond_consts);
  const std::vector<bool> body_consts = part(a.batched, p.cond_consts, p.body_consts);
  Collective collective;
  if (a.axis.devices) {
    collective = find_collective(*p.body, a.axis.name);
    if (!collective) collective = find_collective(*p.cond, a.axis.name);
  }
  bool predicate = false;
  const std::vector<bool> carry =
      carry_fixpoint(part(a.batched, first, p.carry()), [&](const std::vector<bool>& c) {
        predicate = batch_program(p.cond, joined(cond_consts, c), a.axis).batched[0];
        if (predicate && !collective) return std::vector<bool>(c.size(), true);
        return batch_program(p.body, joined(body_consts, c), a.axis).batched;
      });
  if (predicate && a.axis.devices && !collective) return map_divergent(a);
  const BatchedProgram body = batch_program(p.body, joined(body_consts, carry), a.axis, &carry);
  BatchedProgram cond = batch_program(p.cond, joined(cond_consts, carry), a.axis);
  if (cond.batched[0] && !collective && (does_io(*p.cond) || does_io(*p.body))) {
    fail(
        ErrorKind::not_implemented_error,
        "IO effect not supported in vmap-of-while: io_callback is not supported in while_loop with "
        "batched predicate: it would run for elements that have ended. Move it out of the loop, or "
        "use pmap, "
        "where each device runs its own loop.");
  }
  if (cond.batched[0] && collective) cond = agreed_condition(cond, collective, a.axis.name);
  Values in = a.in;
  for (std::size_t i = 0; i < p.carry(); ++i) {
    if (carry[i] && !a.batched[first + i])
      in[first + i] = ops::broadcast_leading(in[first + i], a.axis.size);
  }
  if (!cond.batched[0]) {
    return {bind_while(a.params, cond.program, body.program, p.body_consts, in), carry};
  }
  const ProgramPtr any = stage_closed(
      cond.program->input_types(),
      [&](const Values& v) -> Values {
        return {ops::reduce_or(evaluate(*cond.program, v)[0], {0})};
      },
      p.cond->name);
  // The body takes the condition's constants, too, to know which slices still run.
  Types types = part(cond.program->input_types(), 0, p.cond_consts);
  const Types body_types = body.program->input_types();
  types.insert(types.end(), body_types.begin(), body_types.end());
  const ProgramPtr masked = stage_closed(
      types,
      [&](const Values& v) {
        const Values state = part(v, first, p.carry());
        const Value running = evaluate(*cond.program, joined(part(v, 0, p.cond_consts), state))[0];
        const Values next =
            evaluate(*body.program, part(v, p.cond_consts, p.body_consts + p.carry()));
        Values out;
        for (std::size_t i = 0; i < next.size(); ++i) {
          Value mask = running;
          if (mask->shape() != next[i]->shape())
            mask = ops::broadcast_in_dim(mask, next[i]->shape(), {0});
          out.push_back(ops::where(mask, next[i], state[i]));
        }
        return out;
      },
      p.body->name);
  Values inputs = part(in, 0, p.cond_consts);
  inputs.insert(inputs.end(), in.begin(), in.end());
  return {bind_while(a.params.with("batched", true), any, masked, first, inputs), carry};
}

Values while_transpose(const TransposeArgs&) {
  value_error(
      "Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic "
      "start/stop values. Try using lax.scan, or using fori_loop with static start/stop.");
}

Types while_type(const Op&, const Types&, const Params& params) {
  const WhileParams p(params);
  if (p.cond_consts > p.cond->inputs.size() || p.body_consts > p.body->inputs.size()) {
    value_error("while: cond_nconsts ", params.integer(param::cond_nconsts), " and body_nconsts ",
                params.integer(param::body_nconsts), " do not go with programs of ",
                p.cond->inputs.size(), " and ", p.body->inputs.size(), " inputs.");
  }
  return p.body->output_types();
}

Regions while_regions(const Params& params) {
  const WhileParams p(params);
  Regions out;
  out.runs = ExecutionKind::looped;
  out.programs = {p.cond, p.body};
  for (std::size_t i = 0; i < p.cond_consts; ++i) out.operands.push_back({.program = 0});
  for (std::size_t i = 0; i < p.body_consts; ++i) out.operands.push_back({.program = 1});
  out.operands.resize(out.operands.size() + p.carry(), {PortKind::carried});
  out.results.resize(p.carry(), {PortKind::carried});
  return out;
}

Params while_with_regions(const Params& params, const Regions& regions) {
  std::int64_t consts[2] = {0, 0};
  for (const std::size_t i : regions.operands_of(PortKind::whole))
    ++consts[regions.operands[i].program];
  return params.with("cond_jaxpr", regions.programs[0])
      .with("body_jaxpr", regions.programs[1])
      .with("cond_nconsts", consts[0])
      .with("body_nconsts", consts[1]);
}

const Op while_op{{.name = "while",
                   .doc = "Repeats a program while a condition holds.",
                   .kind = Kind::control,
                   .type = while_type,
                   .jvp_body = while_jvp,
                   .linearize = while_linearize,
                   .transpose = while_transpose,
                   .batch = while_batch,
                   .regions = while_regions,
                   .with_regions = while_with_regions}};

}  // namespace
}  // namespace shardax
