// control/cond.cpp - cond: one of several programs, chosen by an int32 index (clamped).
#include <algorithm>
#include <optional>
#include <set>

#include "base/errors.h"
#include "control/branch_residuals.h"
#include "control/map_divergent.h"
#include "ops/callback.h"
#include "ops/ops.h"
#include "transform/select_residuals.h"

namespace shardax {
namespace {

extern const Op cond_op;

Values bind_cond(const Programs& branches, const Values& in) {
  return shardax::bind(cond_op, {{"branches", branches}}, in);
}

Values tail(const Values& values) { return Values(values.begin() + 1, values.end()); }
std::vector<bool> tail(const std::vector<bool>& mask) {
  return std::vector<bool>(mask.begin() + 1, mask.end());
}
Values with_index(const Value& index, const Values& rest) {
  Values out{index};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

std::vector<bool> any_of(const std::vector<std::vector<bool>>& masks) {
  std::vector<bool> out(masks.at(0).size(), false);
  for (const auto& mask : masks) {
    for (std::size_t i = 0; i < mask.size(); ++i) out[i] = out[i] || mask[i];
  }
  return out;
}

// Weak where the first branch's results are, as in JAX.
Types cond_type(const Op&, const Types&, const Params& params) {
  const Programs& branches = params.programs(param::branches);
  if (branches.empty()) value_error("cond: no branches; at least one was expected.");
  Types out = branches[0]->output_types();
  for (const ProgramPtr& branch : branches) {
    const Types other = branch->output_types();
    if (other.size() != out.size()) {
      value_error("cond: branches give ", out.size(), " and ", other.size(),
                  " results; the same number was expected.");
    }
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i].varying = join(out[i].varying, other[i].varying);
  }
  return out;
}

JvpResult cond_jvp(const Params& params, const Values& in, const Values& t) {
  const Programs& branches = params.programs(param::branches);
  const std::vector<bool> nonzero = nonnull(tail(t));
  std::vector<std::vector<bool>> masks;
  for (const ProgramPtr& b : branches) masks.push_back(jvp_program(b, nonzero).nonzero);
  const std::vector<bool> out_nonzero = any_of(masks);
  Programs derivatives;
  for (const ProgramPtr& b : branches)
    derivatives.push_back(jvp_program(b, nonzero, &out_nonzero).program);
  const Values both = bind_cond(derivatives, joined(in, select(tail(t), nonzero)));
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(out_nonzero.size());
  return {Values(both.begin(), middle), spread(Values(middle, both.end()), out_nonzero)};
}

// The operand of a branch (by its position) or the result (likewise, after the operands) that
// residual `r` is. None if it is neither.
std::optional<std::size_t> passed_as(const LinearizedProgram& branch, std::size_t outputs,
                                     std::size_t r) {
  const std::vector<Var>&inputs = branch.known->inputs, &results = branch.known->outputs;
  const Var v = results[outputs + r];
  const auto input = std::find(inputs.begin(), inputs.end(), v);
  if (input != inputs.end()) return static_cast<std::size_t>(input - inputs.begin());
  const auto end = results.begin() + static_cast<std::ptrdiff_t>(outputs);
  const auto result = std::find(results.begin(), end, v);
  if (result == end) return {};
  return inputs.size() + static_cast<std::size_t>(result - results.begin());
}

// The operands and results that some branch has among its residuals, ascending.
std::vector<std::size_t> passed_values(const std::vector<LinearizedProgram>& branches,
                                       std::size_t outputs) {
  std::set<std::size_t> found;
  for (const LinearizedProgram& branch : branches) {
    for (std::size_t r = 0; r < branch.residual_count; ++r) {
      if (const std::optional<std::size_t> at = passed_as(branch, outputs, r)) found.insert(*at);
    }
  }
  return {found.begin(), found.end()};
}

// The linear program takes those operands and results first, in place of the residuals that they
// are, and the known program no longer gives these. A loop around then stacks no residual twice,
// and none that is the same in all turns.
void take_passed(LinearizedProgram& branch, std::size_t outputs,
                 const std::vector<std::size_t>& passed) {
  const MutableProgram known = copy_of(*branch.known);
  known->outputs.resize(outputs);
  Types types, own;
  for (const std::size_t i : passed) {
    const std::size_t operands = known->inputs.size();
    types.push_back(known->type(i < operands ? known->inputs[i] : known->outputs[i - operands]));
  }
  std::vector<std::size_t> source;  // of each residual, among what is passed and own residuals
  for (std::size_t r = 0; r < branch.residual_count; ++r) {
    const std::optional<std::size_t> as = passed_as(branch, outputs, r);
    if (as) {
      const auto at = std::find(passed.begin(), passed.end(), *as);
      source.push_back(static_cast<std::size_t>(at - passed.begin()));
      continue;
    }
    source.push_back(passed.size() + own.size());
    own.push_back(branch.residual_types[r]);
    known->outputs.push_back(branch.known->outputs[outputs + r]);
  }
  const Types linear_in = branch.linear->input_types();
  const std::size_t rest = passed.size() + own.size();
  branch.linear = stage_closed(
      joined(joined(types, own), part(linear_in, source.size(), linear_in.size() - source.size())),
      [&](const Values& v) {
        Values in;
        for (const std::size_t i : source) in.push_back(v[i]);
        return evaluate(*branch.linear, joined(in, part(v, rest, v.size() - rest)));
      },
      branch.linear->name);
  branch.known = known;
  branch.residual_count = own.size();
  branch.residual_types = own;
}

std::int64_t bytes_of(const Types& types) {
  std::int64_t bytes = 0;
  for (const Type& type : types) bytes += type.bytes();
  return bytes;
}

// The halves of a branch, with residuals that are made of its results made again of these where
// that keeps no more.
LinearizedProgram lean_branch(const ProgramPtr& branch, const std::vector<bool>& nonzero,
                              const std::vector<bool>& out_nonzero) {
  const LinearizedProgram halves = linearize_program(branch, nonzero, &out_nonzero);
  const std::vector<bool> none(branch->inputs.size(), false), all(branch->outputs.size(), true);
  const LinearizedProgram lean = select_residuals(halves, none, all);
  return bytes_of(lean.residual_types) <= bytes_of(halves.residual_types) ? lean : halves;
}

Linearized cond_linearize(const Params& params, const Values& in,
                          const std::vector<bool>& nonzero_in) {
  const Programs& branches = params.programs(param::branches);
  const std::vector<bool> nonzero = tail(nonzero_in);
  std::vector<std::vector<bool>> masks;
  for (const ProgramPtr& b : branches) masks.push_back(linearize_program(b, nonzero).nonzero);
  const std::vector<bool> out_nonzero = any_of(masks);
  std::vector<LinearizedProgram> parts;
  for (const ProgramPtr& b : branches) parts.push_back(lean_branch(b, nonzero, out_nonzero));
  const std::size_t outputs = branches[0]->outputs.size(), operands = in.size() - 1;
  const std::vector<std::size_t> passed = passed_values(parts, outputs);
  BranchResiduals residuals;
  Programs known, linear;
  for (LinearizedProgram& part : parts) {
    take_passed(part, outputs, passed);
    residuals.add(part.residual_types);
  }
  for (std::size_t k = 0; k < branches.size(); ++k) {
    known.push_back(residuals.giving(parts[k].known, k, outputs));
    linear.push_back(residuals.taking(parts[k].linear, k, passed.size()));
  }
  const Values results = bind_cond(known, in);
  Values kept;
  for (const std::size_t i : passed)
    kept.push_back(i < operands ? in[i + 1] : results[i - operands]);
  kept = joined(kept, part(results, outputs, results.size() - outputs));
  Linearized out;
  out.out = part(results, 0, outputs);
  out.linear = [linear, nonzero, out_nonzero, index = in[0], kept](const Values& t) {
    const Values tangents = select(tail(t), nonzero);
    return spread(bind_cond(linear, with_index(index, joined(kept, tangents))), out_nonzero);
  };
  return out;
}

Values cond_transpose(const TransposeArgs& a) {
  std::vector<bool> linear;
  Values known;
  for (std::size_t i = 1; i < a.in.size(); ++i) {
    linear.push_back(!a.in[i]);
    if (a.in[i]) known.push_back(a.in[i]);
  }
  const std::vector<bool> nonzero = nonnull(a.ct);
  Programs backward;
  for (const ProgramPtr& b : a.params.programs(param::branches)) {
    backward.push_back(transpose_program(b, linear, nonzero));
  }
  const Values cts = bind_cond(backward, with_index(a.in[0], joined(known, select(a.ct, nonzero))));
  return with_index(nullptr, spread(cts, linear));
}

// A program of the same outputs, all zero, in place of one that does not run.
ProgramPtr zeros_program(const ProgramPtr& branch) {
  return stage_closed(
      branch->input_types(),
      [&](const Values&) {
        Values out;
        for (const Type& type : branch->output_types()) out.push_back(ops::zeros(type));
        return out;
      },
      branch->name);
}

Value clamped_index(const Value& index, std::size_t branches) {
  const Value low = ops::scalar(DType::int32, 0);
  const Value high = ops::scalar(DType::int32, static_cast<double>(branches - 1));
  return ops::min(ops::max(index, low), high);
}

// An index that varies over devices: each takes its own branch. If some branch contains a
// collective over their axis, all must agree as soon as one device takes such a branch.
Batched cond_over_devices(const BatchArgs& a) {
  const Programs& branches = a.params.programs(param::branches);
  Collective collective;
  std::vector<bool> reaches;
  for (const ProgramPtr& b : branches) {
    const Collective found = find_collective(*b, a.axis.name);
    reaches.push_back(bool(found));
    if (found && !collective) collective = found;
  }
  if (!collective) return map_divergent(a);

  const Value index = clamped_index(a.in[0], branches.size());
  const Types types = types_of(a.in);
  Programs choices;
  Programs apart;  // the branches without collectives
  for (std::size_t k = 0; k < branches.size(); ++k)
    apart.push_back(reaches[k] ? zeros_program(branches[k]) : branches[k]);
  const std::vector<bool> everywhere(branches[0]->outputs.size(), true);
  choices.push_back(stage_closed(
      types,
      [&](const Values& v) {
        const Params params = a.params.with("branches", apart);
        return map_divergent({a.op, params, v, a.batched, a.axis}).out;
      },
      "apart"));
  choices.push_back(stage_closed(
      types,
      [&](const Values& v) {
        Programs batched;
        for (const ProgramPtr& b : branches)
          batched.push_back(batch_program(b, tail(a.batched), a.axis, &everywhere).program);
        const Value choice = agreed(v[0], reaches, collective, a.axis.name, "cond");
        return bind_cond(batched, with_index(choice, tail(v)));
      },
      "together"));
  Value any;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    if (!reaches[k]) continue;
    const Value here = ops::eq(index, ops::scalar(DType::int32, static_cast<double>(k)));
    any = any ? ops::logical_or(any, here) : here;
  }
  const Value which = ops::convert(ops::reduce_or(any, {0}), DType::int32);
  Values in{which, index};
  in.insert(in.end(), a.in.begin() + 1, a.in.end());
  return {bind_cond(choices, in), everywhere};
}

// The operands of branch k, zeroed if its results are thrown away. Derivatives of branches that
// were not taken may be infinite or NaN, and do not reach the operands.
Values guarded_operands(const Value& index, std::size_t k, const Values& operands) {
  const Value taken = ops::eq(index, ops::scalar(DType::int32, static_cast<double>(k)));
  Values out;
  for (const Value& x : operands) {
    if (!differentiable(x->type())) {
      out.push_back(x);
      continue;
    }
    Value mask = taken;
    if (x->shape() != mask->shape()) mask = ops::broadcast_in_dim(mask, x->shape(), {0});
    out.push_back(ops::select_n(mask, {ops::unary("stop_gradient", x), x}));
  }
  return out;
}

// Every branch runs on the whole batch, and the results are chosen by element.
Batched cond_by_selection(const BatchArgs& a) {
  const Programs& branches = a.params.programs(param::branches);
  for (const ProgramPtr& branch : branches) {
    if (!does_io(*branch)) continue;
    fail(ErrorKind::not_implemented_error,
         "IO effect not supported in vmap-of-cond. Where the predicate differs between the "
         "elements, "
         "every branch runs on all of them: move the io_callback out of the branches, or use pmap, "
         "where each device runs its own branch.");
  }
  Values operands;
  for (std::size_t i = 1; i < a.in.size(); ++i) {
    operands.push_back(a.batched[i] ? a.in[i] : ops::broadcast_leading(a.in[i], a.axis.size));
  }
  const std::vector<bool> all_in(operands.size(), true);
  const std::vector<bool> all_out(branches[0]->outputs.size(), true);
  const Value& index = a.in[0];
  std::vector<Values> results;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    results.push_back(evaluate(*batch_program(branches[k], all_in, a.axis, &all_out).program,
                               guarded_operands(index, k, operands)));
  }
  Values out;
  for (std::size_t i = 0; i < all_out.size(); ++i) {
    Values cases;
    for (const Values& r : results) cases.push_back(r[i]);
    Value which = index;
    if (cases[0]->shape() != which->shape())
      which = ops::broadcast_in_dim(which, cases[0]->shape(), {0});
    out.push_back(ops::select_n(which, cases));
  }
  return {out, all_out};
}

Batched cond_batch(const BatchArgs& a) {
  if (a.batched[0]) return a.axis.devices ? cond_over_devices(a) : cond_by_selection(a);
  const Programs& branches = a.params.programs(param::branches);
  const std::vector<bool> operands = tail(a.batched);
  std::vector<std::vector<bool>> masks;
  for (const ProgramPtr& b : branches) masks.push_back(batch_program(b, operands, a.axis).batched);
  const std::vector<bool> out_batched = any_of(masks);
  Programs batched;
  for (const ProgramPtr& b : branches) {
    batched.push_back(batch_program(b, operands, a.axis, &out_batched).program);
  }
  return {bind_cond(batched, a.in), out_batched};
}

Regions cond_regions(const Params& params) {
  Regions out;
  out.runs = ExecutionKind::one_of;
  out.programs = params.programs(param::branches);
  out.operands.resize(out.programs.at(0)->inputs.size() + 1);
  out.operands[0].flow = PortKind::choice;
  out.results.resize(out.programs[0]->outputs.size());
  return out;
}

Params cond_with_regions(const Params& params, const Regions& regions) {
  return params.with("branches", regions.programs);
}

const Op cond_op{{.name = "cond",
                  .doc = "Runs one of several programs.",
                  .kind = Kind::control,
                  .type = cond_type,
                  .jvp_body = cond_jvp,
                  .linearize = cond_linearize,
                  .transpose = cond_transpose,
                  .batch = cond_batch,
                  .regions = cond_regions,
                  .with_regions = cond_with_regions}};

}  // namespace
}  // namespace shardax
