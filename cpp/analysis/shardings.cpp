// analysis/shardings.cpp - specs followed through ops and programs.
#include "analysis/shardings.h"

#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "base/per_thread.h"
#include "control/shard_map.h"
#include "ir/core_ops.h"
#include "ir/regions.h"
#include "ir/sharding_given.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"
#include "runtime/processes.h"

namespace shardax {
namespace {

// As a pmap called by itself labels its results: over this process's first devices, along out_axes.
// The type of its axis is "p": automatic, of devices that nobody has chosen.
Shardings mapped_shardings(const Regions& regions) {
  const std::string& name = axis_text(regions.axis);
  if (regions.length == 0) return Shardings(regions.results.size());  // no device has any
  Shardings out;
  for (const RegionPort& port : regions.results) {
    Shared<Sharding> sharding(new Sharding);
    sharding->mesh_axes = {name};
    sharding->mesh_shape = {regions.length};
    sharding->axis_types.assign(1, 'p');
    sharding->devices.resize(index(regions.length));
    std::iota(sharding->devices.begin(), sharding->devices.end(), runtime::first_device());
    if (port.flow == PortKind::sliced) {
      sharding->spec.resize(index(port.axis) + 1);
      sharding->spec.back() = {name};
    }
    out.push_back(ShardingPtr(sharding.get()));
  }
  return out;
}

// Over an abstract mesh, which has no devices, it is over the first mesh in `known` that has the
// same axes; null where none has.
ShardingPtr given_over(const ShardingPtr& given, const Shardings& known) {
  if (!given || !given->devices.empty()) return given;
  for (const ShardingPtr& own : known) {
    if (own && own->named && own->mesh_axes == given->mesh_axes &&
        own->mesh_shape == given->mesh_shape)
      return with_spec(*own, given->spec);
  }
  return nullptr;
}

// A slice lacks the dimension that its stack has.
ShardingPtr of_slice(const ShardingPtr& stack, const RegionPort& port, std::size_t rank) {
  if (!stack || !stack->named || port.flow != PortKind::sliced) return stack;
  Split split = stack->spec;
  split.resize(rank);
  split.erase(split.begin() + port.axis);
  return with_spec(*stack, std::move(split));
}
ShardingPtr of_stack(const ShardingPtr& slice, const RegionPort& port) {
  if (!slice || !slice->named || port.flow != PortKind::sliced) return slice;
  Split split = slice->spec;
  split.resize(std::max(split.size(), index(port.axis)));
  split.emplace(split.begin() + port.axis);
  return with_spec(*slice, std::move(split));
}

Shardings followed(const Program& program, const Shardings& in);

// One run from the initial carries. With several programs, the first one that gives a sharding
// counts.
Shardings body_shardings(const Regions& regions, const Types& in_types, const Shardings& in) {
  Shardings out(regions.results.size());
  for (std::size_t k = 0; k < regions.programs.size(); ++k) {
    if (!regions.gives_results(k)) continue;
    Shardings inner;
    for (const std::size_t i : regions.taken_by(k))
      inner.push_back(of_slice(in[i], regions.operands[i], in_types[i].rank()));
    const Shardings own = followed(*regions.programs[k], inner);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!out[i]) out[i] = of_stack(own[i], regions.results[i]);
    }
  }
  return out;
}

// Without the entries of whole dimensions behind the last one that is split.
Split trimmed(Split split) {
  while (!split.empty() && split.back().empty()) split.pop_back();
  return split;
}

ShardingPtr without_axes(const ShardingPtr& sharding, const MeshAxes& mesh_axes) {
  if (!sharding || !sharding->named) return sharding;
  Split split = sharding->spec;
  for (const MeshAxes::Axis& axis : mesh_axes.axes) {
    for (std::vector<std::string>& names : split) std::erase(names, axis_text(axis.name));
  }
  return with_spec(*sharding, std::move(split));
}

// Within another one shard_map says nothing of its mesh, which is that of an operand.
ShardingPtr mesh_around(const MeshAxes& mesh_axes, const Shardings& in) {
  for (const ShardingPtr& sharding : in) {
    if (sharding && sharding->named &&
        std::ranges::all_of(mesh_axes.axes, [&](const MeshAxes::Axis& axis) {
          return has(sharding->mesh_axes, axis_text(axis.name));
        }))
      return sharding;
  }
  return nullptr;
}

// Results of shard_map: split over its mesh axes as specs say, by others as the function
// of blocks leaves them.
Shardings grid_shardings(const Op& op, const Params& params, const Shardings& in) {
  MeshAxes mesh_axes = mesh_axes_of(params);
  const bool within = !mesh_axes.mesh;
  if (within) mesh_axes.mesh = mesh_around(mesh_axes, in);
  Shardings out = propagate(*mesh_program(op, params), in);
  if (!mesh_axes.mesh) return out;
  for (std::size_t i = 0; i < out.size() && within; ++i)
    out[i] = mesh_axes.label(mesh_axes.out[i], Type{});
  if (mesh_axes.axes.size() == mesh_axes.mesh->mesh_axes.size()) return out;
  Shardings blocks;
  for (const ShardingPtr& sharding : in)
    blocks.push_back(sharding ? without_axes(sharding, mesh_axes) : with_spec(*mesh_axes.mesh, {}));
  blocks = propagate(*params.program(param::jaxpr), blocks);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i] || !blocks[i] || !blocks[i]->named || blocks[i]->mesh_axes != out[i]->mesh_axes)
      continue;
    const Split more = trimmed(without_axes(blocks[i], mesh_axes)->spec);
    Split split = out[i]->spec;
    split.resize(std::max(split.size(), more.size()));
    for (std::size_t d = 0; d < more.size(); ++d) {
      for (const std::string& name : more[d]) {
        if (std::none_of(split.begin(), split.end(), [&](auto& own) { return has(own, name); }))
          split[d].push_back(name);
      }
    }
    if (split != out[i]->spec) out[i] = with_spec(*out[i], std::move(split));
  }
  return out;
}

bool gives_memory(const Op& op) {
  const Op* moves = &core_ops().device_put;
  return &op == moves;
}

bool gives_layout(const Op& op) {
  const Op* lays_out = &core_ops().layout_constraint;
  return &op == lays_out;
}

SplitRule split_rule(const Op& op) {
  if (op.split) return op.split;
  if (op.dims) return ops::split_by_dims;
  return op.kind == Kind::collective ? ops::split_exchanged : ops::split_same_shape;
}

// Computed values have the default layout.
Shardings without_layouts(Shardings in) {
  for (ShardingPtr& sharding : in) sharding = with_layout(sharding, {});
  return in;
}

// `like` itself where the split is its own. Over explicit axes it has an entry per dimension.
ShardingPtr split_as(const ShardingPtr& like, Split split, bool given) {
  Split own = like->spec;
  own.resize(std::max(own.size(), split.size()));
  const bool trailing = !like->spec.empty() && like->spec.back().empty();
  if (split == own && !(given && trailing) &&
      (!like->is_explicit() || own.size() == like->spec.size()))
    return like;
  return with_spec(*like, like->is_explicit() ? std::move(split) : trimmed(std::move(split)));
}

bool is_summed_later(const ShardingPtr& sharding) {
  return sharding && (!sharding->unreduced.empty() || !sharding->reduced.empty());
}

}  // namespace

ShardingPtr given_sharding(const Params& params) {
  const ParamValue* value = params.find("sharding");
  const auto* given = value ? std::get_if<ShardingPtr>(value) : nullptr;
  return given ? *given : nullptr;
}

Sums sums_left(const Op& op, const Types& in) {
  if (op.sums) return op.sums(op, in);
  return op.kind == Kind::elementwise ? ops::sums_elementwise(op, in)
         : op.kind == Kind::layout    ? ops::sums_kept(op, in)
                                      : ops::no_sums(op, in);
}

bool asked_explicit(const ShardingPtr& sharding) {
  return sharding && sharding->axis_types.find('e') != std::string::npos;
}

bool maps_over_devices(const Op& op, const Params& params) {
  if (!op.regions) return false;
  const ExecutionKind runs = op.regions(params).runs;
  return runs == ExecutionKind::mapped || runs == ExecutionKind::mesh;
}

bool gathers_operands(const Op& op, const Params& params) {
  return op.regions && op.regions(params).runs == ExecutionKind::mapped;
}

bool gives_sharding(const Op& op, const Params& params) {
  return given_sharding(params) || gives_memory(op) || gives_layout(op) ||
         maps_over_devices(op, params);
}

bool gives_sharding(const Equation& eqn) {
  return any_equation(eqn, [](const Equation& e) { return gives_sharding(*e.op, e.params); });
}

bool any_sharding(const Values& arrays) {
  return std::any_of(arrays.begin(), arrays.end(),
                     [](const Value& v) { return bool(as_array(v).sharding()); });
}

Shardings shardings_of(const Values& arrays) {
  Shardings out;
  for (const Value& value : arrays) out.push_back(as_array(value).sharding());
  return out;
}

void set_shardings(const Values& arrays, const Shardings& shardings) {
  for (std::size_t i = 0; i < arrays.size(); ++i) as_array(arrays[i]).set_sharding(shardings[i]);
}

bool inspects_sharding(const Equation& eqn) {
  return any_equation(eqn, [](const Equation& e) { return e.op == &core_ops().inspect_sharding; });
}

bool splits_callbacks(const Equation& eqn) {
  return any_equation(eqn, [](const Equation& e) {
    return e.op == &core_ops().inspect_sharding && e.params.text(param::vmap_method) == "parts";
  });
}

namespace {
// the list that collects them
constinit thread_local std::vector<Inspected>* inspections = nullptr;
}  // namespace

std::vector<Inspected> inspected(const Program& program, const Shardings& in) {
  std::vector<Inspected> out;
  std::vector<Inspected>* outer = std::exchange(inspections, &out);
  propagate(program, in);
  inspections = outer;
  return out;
}

Shardings propagate(const Op& op, const Params& params, const Types& in_types,
                    const Types& out_types, const Shardings& operands) {
  const Shardings in = without_layouts(operands);
  if (op.regions) {
    const Regions regions = op.regions(params);
    if (regions.runs == ExecutionKind::mapped) return mapped_shardings(regions);
    if (regions.runs == ExecutionKind::mesh) return grid_shardings(op, params, in);
    return body_shardings(regions, in_types, in);
  }
  if (gives_layout(op)) {
    const Ints& layout = params.ints(param::layout);
    return {
        with_layout(in[0] ? in[0] : params.get(param::otherwise), {layout.begin(), layout.end()})};
  }
  if (gives_memory(op)) {
    const ShardingPtr& like = in[0] ? in[0] : params.get(param::otherwise);
    return {with_memory(*like, params.text(param::memory))};
  }
  Shardings out(out_types.size());
  ShardingPtr mesh = given_over(given_sharding(params), in);
  const bool given = bool(mesh);
  if (!given && given_sharding(params)) return {in[0]};  // of devices that nobody knows
  for (std::size_t i = 0; i < in.size() && !mesh; ++i) mesh = in[i];
  if (!mesh) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] =
        mesh->named
            ? split_as(mesh, split_rule(op)({op, params, in_types, out_types[i], in, *mesh}), given)
            : mesh;
    if (given) out[i] = with_layout(out[i], given_sharding(params)->layout);
  }
  if (given || std::none_of(in.begin(), in.end(), is_summed_later)) return out;
  const Sums left = sums_left(op, in_types);
  for (ShardingPtr& sharding : out) sharding = with_sums(*sharding, left.unreduced, left.reduced);
  return out;
}

namespace {

// Over automatic axes an array may have parts of different sizes while a program runs, not where it
// leaves it.
ShardingPtr even_parts(const ShardingPtr& sharding, const Type& type) {
  if (!sharding || !sharding->named || sharding->is_explicit()) return sharding;
  Split split = sharding->spec;
  bool even = true;
  for (std::size_t d = 0; d < std::min(split.size(), type.rank()); ++d) {
    if (type.shape[d] % ops::parts_of(split[d], *sharding) == 0) continue;
    split[d].clear();
    even = false;
  }
  return even ? sharding : with_spec(*sharding, trimmed(std::move(split)));
}

Shardings even_parts(Shardings shardings, const Types& types) {
  for (std::size_t i = 0; i < shardings.size(); ++i)
    shardings[i] = even_parts(shardings[i], types[i]);
  return shardings;
}

}  // namespace

Shardings propagate_at_once(const Op& op, const Params& params, const Types& in_types,
                            const Types& out_types, const Shardings& in) {
  static const Op* const slices[] = {&core_ops().slice, &core_ops().dynamic_slice};
  Shardings out = even_parts(propagate(op, params, in_types, out_types, in), out_types);
  if (std::ranges::find(slices, &op) == std::end(slices)) return out;
  if (!out[0] || !out[0]->named || out[0]->is_explicit()) return out;
  Split split = out[0]->spec;
  for (std::size_t d = 0; d < split.size(); ++d) {
    if (in_types[0].shape[d] != out_types[0].shape[d]) split[d].clear();
  }
  out[0] = with_spec(*out[0], std::move(split));
  return out;
}

Shardings propagate(const Program& program, const Shardings& in) {
  return even_parts(followed(program, in), program.output_types());
}

namespace {

Shardings followed(const Program& program, const Shardings& in) {
  const ShardingGiven asked_already;
  Shardings known(program.types.size());
  const auto at = [&](Var v) -> ShardingPtr& { return known[index(v)]; };
  for (std::size_t i = 0; i < in.size(); ++i) at(program.inputs[i]) = with_layout(in[i], {});
  for (const Constant& constant : program.constants)
    at(constant.var) = with_layout(constant.value->sharding(), {});
  for (const Equation& eqn : program.equations) {
    Shardings operands;
    Types in_types, out_types;
    for (const Var v : eqn.inputs) {
      operands.push_back(at(v));
      in_types.push_back(program.type(v));
    }
    for (const Var v : eqn.outputs) out_types.push_back(program.type(v));
    if (inspections && !eqn.op->regions && inspects_sharding(eqn))
      inspections->push_back({eqn.params.get(param::callback), in_types[0], operands[0]});
    const ShardingPtr given = given_sharding(eqn.params);
    const ShardingPtr placed = given_over(given, joined(operands, in));
    const Shardings results = !placed || placed == given
                                  ? propagate(*eqn.op, eqn.params, in_types, out_types, operands)
                                  : propagate(*eqn.op, eqn.params.with("sharding", placed),
                                              in_types, out_types, operands);
    for (std::size_t i = 0; i < results.size(); ++i) at(eqn.outputs[i]) = results[i];
  }
  Shardings out;
  for (const Var v : program.outputs) out.push_back(at(v));
  return out;
}

ShardingPtr& current_mesh() { return per_thread<ShardingPtr, struct CurrentMesh>(); }

}  // namespace

void set_context_mesh(ShardingPtr mesh) { current_mesh() = std::move(mesh); }
const ShardingPtr& context_mesh() { return current_mesh(); }

void place_in_context(const Values& results) {
  const ShardingPtr& mesh = current_mesh();
  if (!mesh) return;
  for (const Value& result : results)
    as_array(result).set_sharding(split_as(mesh, Split(result->type().rank()), true));
}

Shardings asked_of_inputs(const Program& program) {
  Shardings asked(program.inputs.size());
  for (const Equation& eqn : program.equations) {
    const ShardingPtr given = given_sharding(eqn.params);
    if (!given) continue;
    const auto input = std::find(program.inputs.begin(), program.inputs.end(), eqn.inputs[0]);
    if (input == program.inputs.end()) continue;
    ShardingPtr& found = asked[index(input - program.inputs.begin())];
    if (!found) found = given;
  }
  return asked;
}

Shardings replicated_rest(Shardings shardings) {
  const auto first = std::find_if(shardings.begin(), shardings.end(),
                                  [](const ShardingPtr& s) { return bool(s); });
  if (first == shardings.end()) return shardings;
  const ShardingPtr whole = with_memory(*with_sums(*with_spec(**first, {}), {}, {}), "");
  for (ShardingPtr& sharding : shardings) {
    if (!sharding) sharding = whole;
  }
  return shardings;
}

namespace {

// Does an axis that types do not show split a dimension?
bool splits_automatically(const Sharding& sharding) {
  return std::ranges::any_of(sharding.spec, [&](const std::vector<std::string>& axes) {
    return std::ranges::any_of(axes, [&](const auto& axis) { return !sharding.is_explicit(axis); });
  });
}

}  // namespace

Shardings as_results_show(Shardings results, const Types& result_types, const Shardings& inputs,
                          const Types& input_types) {
  const auto is_given = [](const ShardingPtr& s) { return bool(s); };
  const auto first = std::ranges::find_if(inputs, is_given);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ShardingPtr& own = results[i];
    if (!own || !own->named || (own->is_explicit() && !splits_automatically(*own))) continue;
    const auto spec = trimmed(own->spec);
    const bool alike = first != inputs.end() && same_mesh(**first, *own) &&
                       spec == trimmed((*first)->spec) &&
                       input_types[index(first - inputs.begin())].rank() == result_types[i].rank();
    const auto& shown = alike ? (*first)->spec : spec;
    if (shown != own->spec) own = with_spec(*own, shown);
  }
  return results;
}

}  // namespace shardax
