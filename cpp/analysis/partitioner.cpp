// analysis/partitioner.cpp - the walk of the partitioner, equation by equation.
#include "analysis/partitioner.h"

#include <numeric>
#include <optional>

#include "analysis/partition.h"
#include "array/process_mesh.h"
#include "base/index.h"
#include "base/lists.h"
#include "base/stack.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ir/sharding_given.h"
#include "ops/ops.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"
#include "runtime/interrupt.h"
#include "trace/eval_program.h"
#include "trace/stage.h"

namespace shardax {
namespace {

using Axes = std::vector<std::string>;

// Sums that are not done yet go through linear ops.
enum class Linear : std::uint8_t { no, alone, factor, sum };
Linear linearity(const Op& op) {
  if (op.sums == ops::sums_added || op.sums == ops::sums_scattered) return Linear::sum;
  if (op.sums == ops::sums_multiplied) return Linear::factor;
  const bool kept = op.sums == ops::sums_kept || (!op.sums && op.kind == Kind::layout);
  return kept ? Linear::alone : Linear::no;
}

bool uses(const Split& split, const Axes& axes) {
  return std::ranges::any_of(split, [&](const Axes& own) {
    return std::ranges::any_of(own, [&](const std::string& axis) { return has(axes, axis); });
  });
}

}  // namespace

PartedPtr held(Part part) { return std::make_shared<Parted>(Parted{{std::move(part)}}); }

Partitioner::Partitioner(const Sharding& mesh) : mesh_(mesh), messages_(mesh) {
  for (const std::string& axis : mesh.mesh_axes) names_.push_back(intern_axis(axis));
}

Split Partitioner::even(const ShardingPtr& sharding, const Type& type) const {
  Split split = sharding && same_mesh(*sharding, mesh_) ? sharding->spec : Split();
  split.resize(type.rank());
  for (std::size_t d = 0; d < split.size(); ++d) {
    if (type.shape[d] % ops::parts_of(split[d], mesh_) != 0) split[d].clear();
  }
  return split;
}

// Every device has it whole; of a sum whose terms are known, its own.
PartedPtr Partitioner::constant(const Value& value) const {
  const Array& array = as_array(value);
  const ShardingPtr& sharding = array.sharding();
  if (array.slab()) return held({array.slab(), even(over_processes(*sharding), array.type())});
  if (!is_sum(sharding) || !array.terms() || !same_mesh(*sharding, mesh_))
    return held({value, Split(value->type().rank())});
  const Array& stack = *array.terms();
  const Axes& open = sharding->unreduced;
  Split split = even(sharding, array.type());
  for (std::size_t k = open.size(); k-- > 0;) split.insert(split.begin(), Axes{open[k]});
  const ArrayPtr unlabelled = view_of(stack, stack.type(), stack.strides(), 0);
  const Part own = messages_.resplit({unlabelled, Split(split.size())}, split);
  Ints ones(open.size());
  std::iota(ones.begin(), ones.end(), 0);
  split.erase(split.begin(), split.begin() + static_cast<std::ptrdiff_t>(open.size()));
  return held({ops::squeeze(own.value, ones), split, open});
}

HeldList Partitioner::run(const Program& program, const HeldList& inputs) {
  check_stack("a program within programs");
  HeldList env(program.types.size());
  const auto at = [&](Var v) -> PartedPtr& { return env[index(v)]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) at(program.inputs[i]) = inputs[i];
  for (const Constant& c : program.constants) at(c.var) = constant(c.value);
  for (const Equation& eqn : program.equations) {
    runtime::poll_caller();
    const LocationScope location(eqn.location);
    const NamesScope names(nested(current_names(), eqn.names));
    HeldList in;
    Types in_types, out_types;
    for (const Var v : eqn.inputs) in.push_back(at(v)), in_types.push_back(program.type(v));
    for (const Var v : eqn.outputs) out_types.push_back(program.type(v));
    const HeldList out = step(eqn, in, in_types, out_types);
    for (std::size_t i = 0; i < out.size(); ++i) at(eqn.outputs[i]) = out[i];
  }
  HeldList out;
  for (const Var v : program.outputs) out.push_back(at(v));
  return out;
}

// The form to start from: the first, or where it is to be added up, that which has been.
const Part& Partitioner::form(const PartedPtr& array) {
  for (const Part& part : array->forms) {
    if (part.open.empty()) return part;
  }
  return array->forms.front();
}

// Sums are told of where they were left open, the rest where it is needed.
Part Partitioner::moved(const Part& part, const Split& split) const {
  const LocationScope location(part.open.empty() ? current_location() : part.location);
  return messages_.resplit(messages_.summed(part, split), split);
}

// The array as `split` says, by messages where a device has less.
Value Partitioner::value_at(const PartedPtr& array, const Split& split) {
  for (const Part& part : array->forms) {
    if (part.open.empty() && part.split == split) return part.value;
  }
  const Value made = array->make ? array->make(split) : nullptr;
  array->forms.push_back(made ? Part{made, split} : moved(form(array), split));
  return array->forms.back().value;
}

HeldList Partitioner::step(const Equation& eqn, const HeldList& in, const Types& in_types,
                           const Types& out_types) {
  const Op& op = *eqn.op;
  if (op.regions) {
    const Regions regions = regions_of(op, eqn.params);
    if (regions.runs == ExecutionKind::mesh)
      return in_processes ? blocks_of_processes(eqn, in) : blocks(eqn, in);
    if (regions.runs == ExecutionKind::once) return run(*regions.programs[0], in);
    return regions.fixed ? on_whole(eqn, in) : loop(eqn, regions, in, in_types);
  }
  if (asks_for_terms(op)) return terms(eqn, in[0], out_types[0]);
  if (op.expand) return run(*op.expand(eqn.params, in_types), in);
  if (!in_processes && happens_outside(eqn, in)) return {};
  if (!op.effect.empty()) return on_whole(eqn, in);
  return leaf(eqn, in, in_types, out_types);
}

bool is_mere_effect(const Equation& eqn) {
  return !eqn.op->effect.empty() && eqn.outputs.empty() && !eqn.op->regions;
}

bool Partitioner::happens_outside(const Equation& eqn, const HeldList& in) {
  if (!is_mere_effect(eqn)) return false;
  if (without_effects) return true;
  if (loops_ > 0) return false;
  Effect effect{&eqn, {}};
  for (const PartedPtr& array : in) effect.in.push_back(whole(array));
  effects.push_back(std::move(effect));
  return true;
}

// Each device's is here.
HeldList Partitioner::terms(const Equation& eqn, const PartedPtr& sum, const Type& stacked) {
  const auto count = eqn.params.integer(param::count);
  const Split split = even(eqn.params.get(param::sharding), stacked);
  Axes axes;
  for (std::int64_t k = 0; k < count; ++k)
    for (const std::string& axis : split[index(k)]) axes.push_back(axis);
  Ints ones(index(count));
  std::iota(ones.begin(), ones.end(), 0);
  const Value term = term_at(sum, Split(split.begin() + count, split.end()), axes);
  return {held({ops::expand_dims(term, ones), split})};
}

// Every device does all of it.
HeldList Partitioner::on_whole(const Equation& eqn, const HeldList& in) {
  Values values;
  for (const PartedPtr& array : in) values.push_back(whole(array));
  HeldList out;
  for (const Value& value : shardax::bind(*eqn.op, eqn.params, values))
    out.push_back(held({value, Split(value->type().rank())}));
  return out;
}

// The axes over which operands are to be added up, where the op may come before the sum.
Axes Partitioner::open_through(const Op& op, const HeldList& in, const Types& in_types,
                               const Type& result, const Parts& parts) const {
  const Linear linear = linearity(op);
  std::size_t count = 0, last = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!form(in[i]).open.empty()) ++count, last = i;
  }
  if (count == 0 || linear == Linear::no || result.size() > in_types[last].size()) return {};
  if (linear == Linear::factor && count > 1) return {};
  const Axes& open = form(in[last]).open;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (linear == Linear::sum && form(in[i]).open != open) return {};
    if (uses(parts.in[i], open)) return {};
  }
  return open;
}

HeldList Partitioner::leaf(const Equation& eqn, const HeldList& in, const Types& in_types,
                           const Types& out_types) {
  Shardings now;
  for (const PartedPtr& array : in) now.push_back(with_spec(mesh_, form(array).split));
  const SplitArgs asked{*eqn.op, eqn.params, in_types, out_types[0], now, mesh_};
  if (eqn.op->split == ops::split_constrained) {
    const Split split = even(with_spec(mesh_, ops::split_constrained(asked)), out_types[0]);
    const Axes& open = eqn.params.get(param::sharding)->unreduced;
    const Value part = open.empty() ? value_at(in[0], split) : term_at(in[0], split, open);
    return {held({part, split, open, eqn.location})};
  }
  Parts parts = ops::parts_of(asked);
  if (parts.instead) return run(*parts.instead, in);
  Axes open = open_through(*eqn.op, in, in_types, out_types[0], parts);
  // If the op sums its operands, one device alone adds an operand that is not split.
  const bool terms = !parts.open.empty() && linearity(*eqn.op) == Linear::sum;
  Values values;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool stays_open = !open.empty() && !form(in[i]).open.empty();
    const bool is_term = terms && !uses(parts.in[i], parts.open);
    values.push_back(stays_open ? messages_.resplit(form(in[i]), parts.in[i]).value
                     : is_term  ? term_at(in[i], parts.in[i], parts.open)
                                : value_at(in[i], parts.in[i]));
  }
  for (const Halo& halo : parts.halos) {
    Value& part = values[halo.operand];
    part = messages_.with_halo(part, parts.in[halo.operand][halo.dim][0], halo);
  }
  if (parts.params.has("sharding")) parts.params.set("sharding", std::monostate{});
  Values results = shardax::bind(*eqn.op, parts.params, values);
  if (parts.joins == "psum") {
    open.insert(open.end(), parts.open.begin(), parts.open.end());
  } else if (!parts.open.empty()) {
    results[0] =
        ops::reduce_devices(*find_op(parts.joins), results[0], messages_.devices(parts.open));
  }
  HeldList out;
  for (const Value& value : results) {
    Split split = parts.out;
    split.resize(value->type().rank());
    out.push_back(held({value, std::move(split), open, eqn.location}));
  }
  if (open.empty() && out.size() == 1) make_in_parts(*out[0], eqn, in, in_types, out_types[0]);
  return out;
}

// Carries keep their first split, slices have it without the leading dimension. Results of branches
// are split as in the first branch.
HeldList Partitioner::loop(const Equation& eqn, Regions regions, const HeldList& in,
                           const Types& in_types) {
  // The split of an operand or result, and its open sums, as types say.
  struct Form {
    Split split;
    Axes open = {};
  };
  const auto open_of = [](const Type& type) {
    return is_sum(type.sharding) ? type.sharding->unreduced : Axes();
  };
  const auto take = [&](const PartedPtr& array, const Form& as) {
    return as.open.empty() ? value_at(array, as.split) : term_at(array, as.split, as.open);
  };
  Values values;
  std::vector<Form> forms;
  Types types;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const RegionPort& port = regions.operands[i];
    Split split = form(in[i]).split;
    if (port.flow == PortKind::sliced) split[index(port.axis)].clear();
    forms.push_back({split, open_of(in_types[i])});
    values.push_back(take(in[i], forms[i]));
    types.push_back(values.back()->type());
    if (port.flow == PortKind::carried) types.back().varying = names_;
    if (port.flow == PortKind::sliced) {
      types.back().erase_dimension(index(port.axis));
      forms[i].split.erase(forms[i].split.begin() + port.axis);
    }
  }
  std::vector<std::optional<Form>> results(regions.results.size());
  const std::vector<std::size_t> carried = regions.operands_of(PortKind::carried),
                                 carries = regions.results_of(PortKind::carried);
  for (std::size_t n = 0; n < carries.size(); ++n) results[carries[n]] = forms[carried[n]];
  for (std::size_t k = 0; k < regions.programs.size(); ++k) {
    const ProgramPtr program = regions.programs[k];
    const std::vector<std::size_t> taken = regions.taken_by(k);
    Types own;
    for (const std::size_t i : taken) own.push_back(types[i]);
    regions.programs[k] = stage_closed(
        own,
        [&](const Values& given) {
          ++loops_;
          HeldList inputs;
          for (std::size_t n = 0; n < taken.size(); ++n)
            inputs.push_back(held({given[n], forms[taken[n]].split, forms[taken[n]].open}));
          const HeldList made = run(*program, inputs);
          --loops_;
          Values out;
          for (std::size_t r = 0; r < made.size(); ++r) {
            if (!regions.gives_results(k)) {
              out.push_back(whole(made[r]));
              continue;
            }
            if (!results[r])
              results[r] = Form{form(made[r]).split, open_of(program->type(program->outputs[r]))};
            out.push_back(take(made[r], *results[r]));
          }
          return out;
        },
        program->name);
  }
  const Values out = shardax::bind(*eqn.op, eqn.op->with_regions(eqn.params, regions), values);
  HeldList all;
  for (std::size_t r = 0; r < out.size(); ++r) {
    Form& made = *results[r];
    if (regions.results[r].flow == PortKind::sliced)
      made.split.emplace(made.split.begin() + regions.results[r].axis);
    all.push_back(held({out[r], std::move(made.split), std::move(made.open), eqn.location}));
  }
  return all;
}

Value Partitioner::term_at(const PartedPtr& array, const Split& split, const Axes& axes) {
  for (const Part& part : array->forms) {
    Part left = part;
    std::erase_if(left.open, [&](const std::string& axis) { return has(axes, axis); });
    if (left.open.size() + axes.size() == part.open.size())
      return messages_.resplit(messages_.summed(std::move(left), split), split).value;
  }
  // Each device keeps its given part of the whole, or the first one all of it.
  const Split had = form(array).split;
  Value term = value_at(array, split);
  for (const std::string& axis : axes) {
    const AxisName name = intern_axis(axis);
    const std::int64_t devices = ops::parts_of({axis}, mesh_);
    const auto d = index(
        std::find_if(had.begin(), had.end(), [&](const Axes& own) { return own == Axes{axis}; }) -
        had.begin());
    Value place = ops::scalar(DType::int32, 0);
    if (d < had.size() && split[d].empty()) {
      const Shape& shape = term->shape();
      place = ops::div(ops::iota(DType::int32, shape, static_cast<std::int64_t>(d)),
                       ops::scalar(DType::int32, static_cast<double>(shape[d] / devices)));
    }
    const Value own = ops::eq(place, ops::axis_index(name, devices));
    term = ops::where(ops::broadcast_to(own, term->shape()), term, ops::full_like(term, 0));
  }
  return term;
}

}  // namespace shardax
