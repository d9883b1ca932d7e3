// control/scan.cpp - scan: a loop of known length over leading slices, with a carry.
//
// Inputs: constants, carry, xs; outputs: carry, ys. The body takes constants, carry and one slice
// of each x; it gives the new carry and one slice of each y.
#include "base/errors.h"
#include "control/control.h"
#include "ops/ops.h"

namespace shardax {
namespace {

extern const Op scan_op;

struct ScanParams {
  ProgramPtr body;
  std::int64_t length;
  bool reverse;
  std::size_t consts;
  std::size_t carry;
  explicit ScanParams(const Params& p)
      : body(p.program("jaxpr")),
        length(p.integer("length")),
        reverse(p.flag("reverse")),
        consts(static_cast<std::size_t>(p.integer("num_consts"))),
        carry(static_cast<std::size_t>(p.integer("num_carry"))) {}
  std::size_t xs() const { return body->inputs.size() - consts - carry; }
  std::size_t ys() const { return body->outputs.size() - carry; }
};

Values bind_scan(const ProgramPtr& body, std::int64_t length, bool reverse, std::size_t consts,
                 std::size_t carry, const Values& in) {
  return shardax::bind(scan_op,
                       {{"jaxpr", body},
                        {"length", length},
                        {"reverse", reverse},
                        {"num_consts", static_cast<std::int64_t>(consts)},
                        {"num_carry", static_cast<std::int64_t>(carry)}},
                       in);
}

// A body whose inputs and outputs are those of `body` in another order.
ProgramPtr reordered(const ProgramPtr& body, const std::vector<std::size_t>& inputs,
                     const std::vector<std::size_t>& outputs) {
  MutableProgram out = copy_of(*body);
  out->inputs.clear();
  out->outputs.clear();
  for (std::size_t i : inputs) out->inputs.push_back(body->inputs[i]);
  for (std::size_t i : outputs) out->outputs.push_back(body->outputs[i]);
  return out;
}

std::vector<std::size_t> range(std::size_t from, std::size_t count) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(from + i);
  return out;
}
std::vector<std::size_t> chain(std::initializer_list<std::vector<std::size_t>> parts) {
  std::vector<std::size_t> out;
  for (const auto& p : parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}
Types scan_type(const Op&, const Types&, const Params& params) {
  const ScanParams p(params);
  Types out = p.body->output_types();
  for (std::size_t i = p.carry; i < out.size(); ++i) out[i].shape.insert(0, p.length);
  return out;
}

JvpResult scan_jvp(const Params& params, const Values& in, const Values& t) {
  const ScanParams p(params);
  std::vector<bool> nonzero = nonnull(t);
  const std::vector<bool> consts = part(nonzero, 0, p.consts),
                          xs = part(nonzero, p.consts + p.carry, p.xs());
  const std::vector<bool> carry =
      carry_fixpoint(part(nonzero, p.consts, p.carry), [&](const std::vector<bool>& c) {
        return part(jvp_program(p.body, joined(joined(consts, c), xs)).nonzero, 0, p.carry);
      });
  nonzero = joined(joined(consts, carry), xs);
  std::vector<bool> wanted = joined(carry, std::vector<bool>(p.ys(), false));
  const JvpProgram d = jvp_program(p.body, nonzero, &wanted);
  // The derivative's inputs are primals then tangents; scan wants consts, carry, xs of both.
  const std::size_t n = p.body->inputs.size();
  const std::size_t tc = count_true(consts), tk = count_true(carry), tx = count_true(xs);
  const std::size_t outs = p.body->outputs.size();
  const std::vector<bool> ys_nonzero = part(d.nonzero, p.carry, p.ys());
  const ProgramPtr body = reordered(
      d.program,
      chain({range(0, p.consts), range(n, tc), range(p.consts, p.carry), range(n + tc, tk),
             range(p.consts + p.carry, p.xs()), range(n + tc + tk, tx)}),
      chain({range(0, p.carry), range(outs, tk), range(p.carry, p.ys()),
             range(outs + tk, count_true(ys_nonzero))}));
  Values tangents;
  for (std::size_t i = 0; i < n; ++i) {
    if (nonzero[i]) tangents.push_back(zeros_if_null(t[i], tangent_type(in[i]->type())));
  }
  const Values inputs =
      joined(joined(joined(joined(joined(part(in, 0, p.consts), part(tangents, 0, tc)),
                                  part(in, p.consts, p.carry)),
                           part(tangents, tc, tk)),
                    part(in, p.consts + p.carry, p.xs())),
             part(tangents, tc + tk, tx));
  const Values both = bind_scan(body, p.length, p.reverse, p.consts + tc, p.carry + tk, inputs);
  JvpResult result;
  result.out = joined(part(both, 0, p.carry), part(both, p.carry + tk, p.ys()));
  result.t = joined(spread(part(both, p.carry, tk), carry),
                    spread(part(both, p.carry + tk + p.ys(), count_true(ys_nonzero)), ys_nonzero));
  return result;
}

// The known scan also stacks the residuals of each step; those that are constants of the loop pass
// by unstacked. The linear scan takes tangent constants, tangent carry, residuals and tangent xs.
Linearized scan_linearize(const Params& params, const Values& in,
                          const std::vector<bool>& nonzero_in) {
  const ScanParams p(params);
  const std::vector<bool> consts = part(nonzero_in, 0, p.consts);
  const std::vector<bool> xs = part(nonzero_in, p.consts + p.carry, p.xs());
  const std::vector<bool> carry =
      carry_fixpoint(part(nonzero_in, p.consts, p.carry), [&](const std::vector<bool>& c) {
        return part(linearize_program(p.body, joined(joined(consts, c), xs)).nonzero, 0, p.carry);
      });
  const std::vector<bool> nonzero = joined(joined(consts, carry), xs);
  std::vector<bool> wanted = joined(carry, std::vector<bool>(p.ys(), false));
  const LinearizedProgram d = linearize_program(p.body, nonzero, &wanted);
  const std::size_t outs = p.body->outputs.size();
  // Residuals that are loop constants, by the constant's position; -1 for stacked ones.
  std::vector<int> passed;
  std::vector<std::size_t> stacked, fixed;
  for (std::size_t r = 0; r < d.residual_count; ++r) {
    const Var var = d.known->outputs[outs + r];
    const auto first = d.known->inputs.begin();
    const auto last = first + static_cast<std::ptrdiff_t>(p.consts);
    const auto at = std::find(first, last, var);
    passed.push_back(at == last ? -1 : static_cast<int>(at - first));
    (at == last ? stacked : fixed).push_back(r);
  }
  std::vector<std::size_t> known_outputs = range(0, outs);
  for (std::size_t r : stacked) known_outputs.push_back(outs + r);
  const ProgramPtr known = reordered(d.known, range(0, p.body->inputs.size()), known_outputs);
  const Values results = bind_scan(known, p.length, p.reverse, p.consts, p.carry, in);
  Linearized out;
  out.out = part(results, 0, outs);
  Values fixed_values;
  for (std::size_t r : fixed) fixed_values.push_back(in[static_cast<std::size_t>(passed[r])]);
  const Values stacked_values = part(results, outs, stacked.size());

  const std::size_t tc = count_true(consts), tk = count_true(carry), tx = count_true(xs);
  const std::size_t res = d.residual_count;
  const std::vector<bool> ys_nonzero = part(d.nonzero, p.carry, p.ys());
  const ProgramPtr linear = reordered(
      d.linear,
      chain({fixed, range(res, tc), range(res + tc, tk), stacked, range(res + tc + tk, tx)}),
      range(0, d.linear->outputs.size()));
  out.linear = [=, length = p.length, reverse = p.reverse, n_consts = p.consts, n_carry = p.carry,
                types = p.body->input_types()](const Values& t) {
    Values tangents;
    for (std::size_t i = 0; i < nonzero.size(); ++i) {
      if (!nonzero[i]) continue;
      Type type = tangent_type(types[i]);
      if (i >= n_consts + n_carry) type.shape.insert(0, length);
      tangents.push_back(zeros_if_null(t[i], type));
    }
    const Values inputs =
        joined(joined(joined(joined(fixed_values, part(tangents, 0, tc)), part(tangents, tc, tk)),
                      stacked_values),
               part(tangents, tc + tk, tx));
    const Values results = bind_scan(linear, length, reverse, fixed_values.size() + tc, tk, inputs);
    return joined(spread(part(results, 0, tk), carry),
                  spread(part(results, tk, results.size() - tk), ys_nonzero));
  };
  return out;
}

// A linear scan backwards: cotangents of the carry are carried, those of constants accumulate.
// Inputs arrive as [known consts, linear consts, carry, known xs, linear xs] in any interleaving.
Values scan_transpose(const TransposeArgs& a) {
  const ScanParams p(a.params);
  std::vector<bool> linear;
  for (const Value& value : a.in) linear.push_back(!value);
  const std::vector<bool> const_linear = part(linear, 0, p.consts);
  std::vector<bool> x_linear = part(linear, p.consts + p.carry, p.xs());
  // The carry counts as linear as a whole: a known initial carry beside it has no tangent part.
  const std::vector<bool> body_linear =
      joined(joined(const_linear, std::vector<bool>(p.carry, true)), x_linear);
  const Types body_in = p.body->input_types(), body_out = p.body->output_types();
  std::vector<bool> ct_mask(p.body->outputs.size(), true);
  for (std::size_t i = p.carry; i < ct_mask.size(); ++i) ct_mask[i] = bool(a.ct[i]);
  const ProgramPtr backward = transpose_program(p.body, body_linear, ct_mask);
  // backward: known consts, known xs, ct carry, ct ys -> ct consts, ct carry, ct xs
  Types known_consts, linear_consts, carry_types, known_xs, ct_ys;
  Values const_values, x_values;
  for (std::size_t i = 0; i < p.consts; ++i) {
    (const_linear[i] ? linear_consts : known_consts).push_back(body_in[i]);
    if (!const_linear[i]) const_values.push_back(a.in[i]);
  }
  for (std::size_t i = 0; i < p.carry; ++i) carry_types.push_back(body_in[p.consts + i]);
  for (std::size_t i = 0; i < p.xs(); ++i) {
    if (x_linear[i]) continue;
    known_xs.push_back(body_in[p.consts + p.carry + i]);
    x_values.push_back(a.in[p.consts + p.carry + i]);
  }
  Values init, ys_ct;
  for (const Type& type : linear_consts) init.push_back(ops::zeros(type));
  for (std::size_t i = 0; i < p.carry; ++i) init.push_back(zeros_if_null(a.ct[i], body_out[i]));
  for (std::size_t i = p.carry; i < ct_mask.size(); ++i) {
    if (!a.ct[i]) continue;
    ct_ys.push_back(body_out[i]);
    ys_ct.push_back(a.ct[i]);
  }
  Types types = known_consts;
  for (const Types* more : {&linear_consts, &carry_types, &known_xs, &ct_ys}) {
    types.insert(types.end(), more->begin(), more->end());
  }
  const std::size_t nk = known_consts.size(), nl = linear_consts.size();
  const ProgramPtr body = stage_closed(
      types,
      [&](const Values& v) {
        const Values consts = part(v, 0, nk), sums = part(v, nk, nl),
                     ct_carry = part(v, nk + nl, p.carry);
        const Values xs = part(v, nk + nl + p.carry, known_xs.size());
        const Values ys = part(v, nk + nl + p.carry + known_xs.size(), ct_ys.size());
        const Values cts = evaluate(*backward, joined(joined(joined(consts, xs), ct_carry), ys));
        Values out;
        for (std::size_t i = 0; i < nl; ++i) out.push_back(ops::add(sums[i], cts[i]));
        return joined(out, part(cts, nl, cts.size() - nl));
      },
      p.body->name);
  const Values results = bind_scan(body, p.length, !p.reverse, nk, nl + p.carry,
                                   joined(joined(joined(const_values, init), x_values), ys_ct));
  Values out;
  std::size_t next_x = nl + p.carry;
  for (std::size_t i = 0, k = 0; i < p.consts; ++i)
    out.push_back(const_linear[i] ? results[k++] : Value());
  for (std::size_t i = 0; i < p.carry; ++i)
    out.push_back(linear[p.consts + i] ? results[nl + i] : Value());
  for (std::size_t i = 0; i < p.xs(); ++i) out.push_back(x_linear[i] ? results[next_x++] : Value());
  return out;
}

// xs and ys carry the batch behind the loop dimension.
Batched scan_batch(const BatchArgs& a) {
  const ScanParams p(a.params);
  const std::vector<bool> consts = part(a.batched, 0, p.consts);
  const std::vector<bool> xs = part(a.batched, p.consts + p.carry, p.xs());
  const std::vector<bool> carry =
      carry_fixpoint(part(a.batched, p.consts, p.carry), [&](const std::vector<bool>& c) {
        return part(batch_program(p.body, joined(joined(consts, c), xs), a.axis).batched, 0,
                    p.carry);
      });
  std::vector<bool> wanted = joined(carry, std::vector<bool>(p.ys(), false));
  const BatchedProgram body =
      batch_program(p.body, joined(joined(consts, carry), xs), a.axis, &wanted);
  Values in = a.in;
  for (std::size_t i = 0; i < p.carry; ++i) {
    Value& value = in[p.consts + i];
    if (carry[i] && !a.batched[p.consts + i]) value = ops::broadcast_leading(value, a.axis.size);
  }
  for (std::size_t i = 0; i < p.xs(); ++i) {
    if (xs[i]) in[p.consts + p.carry + i] = ops::moveaxis(in[p.consts + p.carry + i], 0, 1);
  }
  Values out = bind_scan(body.program, p.length, p.reverse, p.consts, p.carry, in);
  for (std::size_t i = p.carry; i < out.size(); ++i) {
    if (body.batched[i]) out[i] = ops::moveaxis(out[i], 1, 0);
  }
  return {out, body.batched};
}

Pruned scan_prune(const Params& params, const std::vector<bool>& wanted) {
  const ScanParams p(params);
  std::vector<bool> outputs = wanted;
  const PrunedProgram body = prune_loop(p.body, p.consts, p.carry, outputs);
  const std::size_t consts = count_true(part(body.inputs, 0, p.consts));
  const std::size_t carry = count_true(part(outputs, 0, p.carry));
  return {params.with("jaxpr", body.program)
              .with("num_consts", static_cast<std::int64_t>(consts))
              .with("num_carry", static_cast<std::int64_t>(carry)),
          body.inputs, outputs};
}

// What a step keeps is stacked.
KeepingCall scan_keep(const Params& params, const KeepingBody& body) {
  const ScanParams p(params);
  KeepingProgram step = body(p.body);
  for (Type& type : step.kept) type.shape.insert(0, p.length);
  return {params.with("jaxpr", step.forward), params.with("jaxpr", step.again), step.kept};
}

const Op scan_op{{.name = "scan",
                  .doc = "Loops over leading slices with a carry.",
                  .kind = Kind::control,
                  .type = scan_type,
                  .jvp_body = scan_jvp,
                  .linearize = scan_linearize,
                  .transpose = scan_transpose,
                  .batch = scan_batch,
                  .prune = scan_prune,
                  .keep = scan_keep}};

}  // namespace

Values bind_device_loop(const ProgramPtr& body, std::int64_t size, std::size_t consts,
                        const Values& in) {
  return shardax::bind(scan_op,
                       {{"jaxpr", body},
                        {"length", size},
                        {"reverse", false},
                        {"num_consts", static_cast<std::int64_t>(consts)},
                        {"num_carry", std::int64_t{0}},
                        {"devices", true}},
                       in);
}

bool is_scan(const Op& op) { return &op == &scan_op; }

}  // namespace shardax
