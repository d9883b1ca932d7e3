// control/scan.cpp - scan: a loop of known length over leading slices, with a carry.
//
// Inputs: constants, carry, xs; outputs: carry, ys. The body takes constants, carry and one slice
// of each x; it gives the new carry and one slice of each y.
#include <algorithm>
#include <map>

#include "base/errors.h"
#include "base/index.h"
#include "control/control.h"
#include "ops/ops.h"
#include "transform/select_residuals.h"

namespace shardax {
namespace {

extern const Op scan_op;

using Mask = std::vector<bool>;
using Positions = std::vector<std::size_t>;

// Parts of a list over the operands of a scan (values, masks, input positions of its body), by the
// way they reach the body.
template <class List>
struct Parts {
  List consts, carry, xs;

  List all() const { return joined(joined(consts, carry), xs); }
  // With more of each kind behind its own.
  Parts with(const Parts& more) const {
    return {joined(consts, more.consts), joined(carry, more.carry), joined(xs, more.xs)};
  }
};

template <class List>
Parts<List> select(const Parts<List>& parts, const Parts<Mask>& mask) {
  return {shardax::select(parts.consts, mask.consts), shardax::select(parts.carry, mask.carry),
          shardax::select(parts.xs, mask.xs)};
}

Positions range(std::size_t from, std::size_t count) {
  Positions out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(from + i);
  return out;
}

// Consecutive positions from `first` on, for those that `mask` selects.
Parts<Positions> numbered(std::size_t first, const Parts<Mask>& mask) {
  const std::size_t consts = count_true(mask.consts), carry = count_true(mask.carry);
  return {range(first, consts), range(first + consts, carry),
          range(first + consts + carry, count_true(mask.xs))};
}

struct ScanParams {
  ProgramPtr body;
  std::int64_t length;
  bool reverse;
  std::size_t consts;
  std::size_t carry;
  explicit ScanParams(const Params& p)
      : body(p.program(param::jaxpr)),
        length(p.integer(param::length)),
        reverse(p.flag(param::reverse)),
        consts(index(p.integer(param::num_consts))),
        carry(index(p.integer(param::num_carry))) {}
  std::size_t xs() const { return body->inputs.size() - consts - carry; }
  std::size_t ys() const { return body->outputs.size() - carry; }
  template <class T>
  Parts<std::vector<T>> split(const std::vector<T>& all) const {
    return {part(all, 0, consts), part(all, consts, carry), part(all, consts + carry, xs())};
  }
  Mask of_carry(const Mask& outputs) const { return part(outputs, 0, carry); }
  Mask of_ys(const Mask& outputs) const { return part(outputs, carry, ys()); }
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
ProgramPtr reordered(const ProgramPtr& body, const Positions& inputs, const Positions& outputs) {
  MutableProgram out = copy_of(*body);
  out->inputs.clear();
  out->outputs.clear();
  for (std::size_t i : inputs) out->inputs.push_back(body->inputs[i]);
  for (std::size_t i : outputs) out->outputs.push_back(body->outputs[i]);
  return out;
}

Types scan_type(const Op&, const Types&, const Params& params) {
  const ScanParams p(params);
  const std::size_t inputs = p.body->inputs.size();
  if (p.consts > inputs || p.carry > inputs - p.consts || p.carry > p.body->outputs.size() ||
      p.length < 0) {
    value_error("scan: num_consts ", params.integer(param::num_consts), ", num_carry ",
                params.integer(param::num_carry), " and length ", p.length,
                " do not go with a body of ", inputs, " inputs and ", p.body->outputs.size(),
                " outputs.");
  }
  Types out = p.body->output_types();
  for (std::size_t i = p.carry; i < out.size(); ++i) out[i].insert_dimension(0, p.length);
  return out;
}

// The operands with a property (a tangent, a batch). A carry that gets it in some iteration has it
// in all.
template <class Once>
Parts<Mask> settled(const ScanParams& p, const Mask& nonzero, Once&& once) {
  Parts<Mask> mask = p.split(nonzero);
  mask.carry = carry_fixpoint(mask.carry, [&](const Mask& carry) {
    return p.of_carry(once(Parts<Mask>{mask.consts, carry, mask.xs}.all()));
  });
  return mask;
}

// The outputs of the carry must have it wherever the carry has.
Mask wanted_outputs(const ScanParams& p, const Parts<Mask>& mask) {
  return joined(mask.carry, Mask(p.ys(), false));
}

// The tangents that `mask` selects, zeros where null.
Parts<Values> tangents_of(const ScanParams& p, const Values& t, const Parts<Mask>& mask) {
  const Types types = p.body->input_types();
  Values full;
  const Mask selected = mask.all();
  for (std::size_t i = 0; i < t.size(); ++i) {
    Type type = tangent_type(types[i]);
    if (i >= p.consts + p.carry) type.insert_dimension(0, p.length);
    full.push_back(selected[i] ? zeros_if_null(t[i], type) : nullptr);
  }
  return select(p.split(full), mask);
}

// The derivative of the body takes primals, then tangents; the scan takes constants of both, the
// carry of both, xs of both. So with its outputs.
JvpResult scan_jvp(const Params& params, const Values& in, const Values& t) {
  const ScanParams p(params);
  const Parts<Mask> mask = settled(
      p, nonnull(t), [&](const Mask& nonzero) { return jvp_program(p.body, nonzero).nonzero; });
  const Mask wanted = wanted_outputs(p, mask);
  const JvpProgram d = jvp_program(p.body, mask.all(), &wanted);
  const std::size_t n = p.body->inputs.size(), outs = p.body->outputs.size();
  const std::size_t carry_t = count_true(mask.carry);
  const Mask ys = p.of_ys(d.nonzero);
  const ProgramPtr body =
      reordered(d.program, p.split(range(0, n)).with(numbered(n, mask)).all(),
                joined(joined(range(0, p.carry), range(outs, carry_t)),
                       joined(range(p.carry, p.ys()), range(outs + carry_t, count_true(ys)))));
  const Parts<Values> operands = p.split(in).with(tangents_of(p, t, mask));
  const Values both = bind_scan(body, p.length, p.reverse, operands.consts.size(),
                                operands.carry.size(), operands.all());
  const std::size_t first_y = p.carry + carry_t;
  return {joined(part(both, 0, p.carry), part(both, first_y, p.ys())),
          joined(spread(part(both, p.carry, carry_t), mask.carry),
                 spread(part(both, first_y + p.ys(), count_true(ys)), ys))};
}

// The values of a body that depend only on the constants of its loop, its first inputs.
Mask invariant(const Program& body, std::size_t consts) {
  Mask same(body.types.size(), false);
  const auto at = [&](Var v) { return same[index(v)]; };
  for (std::size_t i = 0; i < consts; ++i) same[index(body.inputs[i])] = true;
  for (const Constant& constant : body.constants) same[index(constant.var)] = true;
  for (const Equation& eqn : body.equations) {
    const bool all = !has_effects(eqn) && std::all_of(eqn.inputs.begin(), eqn.inputs.end(), at);
    for (const Var v : eqn.outputs) same[index(v)] = all;
  }
  return same;
}

// The program that computes outputs of the body that depend only on the constants.
ProgramPtr once_for_all(const ProgramPtr& body, std::size_t consts, const Positions& outputs) {
  const MutableProgram out = copy_of(*reordered(body, range(0, consts), outputs));
  Mask needed(body->types.size(), false);
  for (const Var v : out->outputs) needed[index(v)] = true;
  out->equations.clear();
  for (auto eqn = body->equations.rbegin(); eqn != body->equations.rend(); ++eqn) {
    const auto at = [&](Var v) { return needed[index(v)]; };
    if (std::none_of(eqn->outputs.begin(), eqn->outputs.end(), at)) continue;
    for (const Var v : eqn->inputs) needed[index(v)] = true;
    out->equations.insert(out->equations.begin(), *eqn);
  }
  return out;
}

// The known scan also stacks the residuals of each step. Residuals that are the same in all steps
// are computed once and pass by unstacked. Slices of xs, and ys, are in existing stacks.
Linearized scan_linearize(const Params& params, const Values& in, const Mask& nonzero_in) {
  const ScanParams p(params);
  const Parts<Mask> mask = settled(p, nonzero_in, [&](const Mask& nonzero) {
    return linearize_program(p.body, nonzero).nonzero;
  });
  const Mask wanted = wanted_outputs(p, mask);
  const Parts<Mask> is_free{Mask(p.consts, true), Mask(p.carry, false), Mask(p.xs(), true)};
  const std::size_t outs = p.body->outputs.size(), first_x = p.consts + p.carry;
  const LinearizedProgram d =
      select_residuals(linearize_program(p.body, mask.all(), &wanted), is_free.all(),
                       joined(Mask(p.carry, false), Mask(outs - p.carry, true)));
  // Residuals, by number: those that are the same in all turns; those in stacks that there are,
  // with their operands or results; and the others.
  Positions fixed, given, stacked;
  const Mask same = invariant(*d.known, p.consts);
  const std::vector<Var>& known_out = d.known->outputs;
  std::map<Var, std::size_t> x_of, y_of;
  for (std::size_t i = first_x; i < in.size(); ++i) x_of.emplace(d.known->inputs[i], i);
  for (std::size_t i = p.carry; i < outs; ++i) y_of.emplace(known_out[i], i);
  for (std::size_t r = 0; r < d.residual_count; ++r) {
    const Var v = known_out[outs + r];
    const bool is_given = x_of.count(v) + y_of.count(v) > 0;
    (same[index(v)] ? fixed : is_given ? given : stacked).push_back(r);
  }
  Positions fixed_outputs;
  for (const std::size_t r : fixed) fixed_outputs.push_back(outs + r);
  const Values fixed_values =
      shardax::evaluate(*once_for_all(d.known, p.consts, fixed_outputs), part(in, 0, p.consts));
  Positions known_outputs = range(0, outs);
  for (std::size_t r : stacked) known_outputs.push_back(outs + r);
  const ProgramPtr known = reordered(d.known, range(0, p.body->inputs.size()), known_outputs);
  const Values results = bind_scan(known, p.length, p.reverse, p.consts, p.carry, in);

  // The linear body takes residuals, then tangents; of the scan's residuals those that are fixed
  // are constants and the others xs.
  const Parts<Positions> residuals{fixed, {}, joined(stacked, given)};
  const ProgramPtr linear =
      reordered(d.linear, residuals.with(numbered(d.residual_count, mask)).all(),
                range(0, d.linear->outputs.size()));
  Parts<Values> kept{fixed_values, {}, part(results, outs, stacked.size())};
  for (const std::size_t r : given) {
    const Var v = known_out[outs + r];
    const auto x = x_of.find(v);
    kept.xs.push_back(x != x_of.end() ? in[x->second] : results[y_of.at(v)]);
  }
  Linearized out;
  out.out = part(results, 0, outs);
  out.linear = [p, mask, kept, linear, ys = p.of_ys(d.nonzero)](const Values& t) {
    const Parts<Values> operands = kept.with(tangents_of(p, t, mask));
    const Values moved = bind_scan(linear, p.length, p.reverse, operands.consts.size(),
                                   operands.carry.size(), operands.all());
    const std::size_t carry = operands.carry.size();
    return joined(spread(part(moved, 0, carry), mask.carry),
                  spread(part(moved, carry, moved.size() - carry), ys));
  };
  return out;
}

// A linear scan backwards: cotangents of the carry are carried, those of constants accumulate,
// those of ys are xs and those of xs ys. Known and linear operands come in any interleaving.
Values scan_transpose(const TransposeArgs& a) {
  const ScanParams p(a.params);
  Parts<Mask> linear = p.split(inverse(nonnull(a.in)));
  const Mask initial = linear.carry;
  // The carry counts as linear as a whole: a known initial carry beside it has no tangent part.
  linear.carry.assign(p.carry, true);
  const Parts<Mask> known{inverse(linear.consts), Mask(p.carry, false), inverse(linear.xs)};
  Mask ct_mask = nonnull(a.ct);
  std::fill_n(ct_mask.begin(), p.carry, true);
  // Takes known constants, known xs, cotangents of the carry, of ys; gives those of the linear
  // constants, of the carry, of the linear xs.
  const ProgramPtr backward = transpose_program(p.body, linear.all(), ct_mask);

  const Parts<Types> body_in = p.split(p.body->input_types());
  const Types body_out = p.body->output_types();
  const Parts<Values> values = select(p.split(a.in), known);
  const Types sums = shardax::select(body_in.consts, linear.consts);
  const Mask ys_mask = part(ct_mask, p.carry, p.ys());
  Parts<Values> operands{values.consts, {}, values.xs};
  for (const Type& type : sums) operands.carry.push_back(ops::zeros(type));
  for (std::size_t i = 0; i < p.carry; ++i)
    operands.carry.push_back(zeros_if_null(a.ct[i], body_out[i]));
  operands.xs = joined(operands.xs, shardax::select(part(a.ct, p.carry, p.ys()), ys_mask));

  const Types ys_types = shardax::select(part(body_out, p.carry, p.ys()), ys_mask);
  const Parts<Types> known_types = select(body_in, known);
  const Parts<Types> types{known_types.consts, joined(sums, body_in.carry),
                           joined(known_types.xs, ys_types)};
  const ProgramPtr body = stage_closed(
      types.all(),
      [&](const Values& v) {
        const std::size_t first_x = types.consts.size() + types.carry.size();
        const Values consts = part(v, 0, types.consts.size());
        const Values totals = part(v, types.consts.size(), sums.size());
        const Values carry = part(v, types.consts.size() + sums.size(), p.carry);
        const Values xs = part(v, first_x, known_types.xs.size());
        const Values ys = part(v, first_x + xs.size(), ys_types.size());
        const Values cts = evaluate(*backward, joined(joined(consts, xs), joined(carry, ys)));
        Values out;
        for (std::size_t i = 0; i < totals.size(); ++i) out.push_back(ops::add(totals[i], cts[i]));
        return joined(out, part(cts, totals.size(), cts.size() - totals.size()));
      },
      p.body->name);
  const Values results = bind_scan(body, p.length, !p.reverse, operands.consts.size(),
                                   operands.carry.size(), operands.all());
  Values carry = part(results, sums.size(), p.carry);
  for (std::size_t i = 0; i < p.carry; ++i) {
    if (!initial[i]) carry[i] = nullptr;
  }
  const std::size_t first = sums.size() + p.carry;
  return Parts<Values>{spread(part(results, 0, sums.size()), linear.consts), carry,
                       spread(part(results, first, results.size() - first), linear.xs)}
      .all();
}

// xs and ys carry the batch behind the loop dimension.
Batched scan_batch(const BatchArgs& a) {
  const ScanParams p(a.params);
  const Parts<Mask> mask = settled(p, a.batched, [&](const Mask& batched) {
    return batch_program(p.body, batched, a.axis).batched;
  });
  const Mask wanted = wanted_outputs(p, mask);
  const BatchedProgram body = batch_program(p.body, mask.all(), a.axis, &wanted);
  Values in = a.in;
  for (std::size_t i = 0; i < p.carry; ++i) {
    Value& value = in[p.consts + i];
    if (mask.carry[i] && !a.batched[p.consts + i])
      value = ops::broadcast_leading(value, a.axis.size);
  }
  for (std::size_t i = 0; i < p.xs(); ++i) {
    if (mask.xs[i]) in[p.consts + p.carry + i] = ops::moveaxis(in[p.consts + p.carry + i], 0, 1);
  }
  Values out = bind_scan(body.program, p.length, p.reverse, p.consts, p.carry, in);
  for (std::size_t i = p.carry; i < out.size(); ++i) {
    if (body.batched[i]) out[i] = ops::moveaxis(out[i], 1, 0);
  }
  return {out, body.batched};
}

Regions scan_regions(const Params& params) {
  const ScanParams p(params);
  Regions out;
  out.runs = ExecutionKind::counted;
  out.programs = {p.body};
  out.operands.resize(p.body->inputs.size(), {PortKind::whole});
  out.results.resize(p.body->outputs.size(), {PortKind::carried});
  for (std::size_t i = p.consts; i < out.operands.size(); ++i)
    out.operands[i].flow = i < p.consts + p.carry ? PortKind::carried : PortKind::sliced;
  for (std::size_t i = p.carry; i < out.results.size(); ++i) out.results[i].flow = PortKind::sliced;
  out.length = p.length;
  out.reverse = p.reverse;
  out.devices = params.has("devices");
  return out;
}

Params scan_with_regions(const Params& params, const Regions& regions) {
  const std::size_t consts = regions.operands_of(PortKind::whole).size();
  const std::size_t carry = regions.operands_of(PortKind::carried).size();
  return params.with("jaxpr", regions.programs[0])
      .with("num_consts", static_cast<std::int64_t>(consts))
      .with("num_carry", static_cast<std::int64_t>(carry));
}

const Op scan_op{{.name = "scan",
                  .doc = "Loops over leading slices with a carry.",
                  .kind = Kind::control,
                  .type = scan_type,
                  .jvp_body = scan_jvp,
                  .linearize = scan_linearize,
                  .transpose = scan_transpose,
                  .batch = scan_batch,
                  .regions = scan_regions,
                  .with_regions = scan_with_regions}};

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

}  // namespace shardax
