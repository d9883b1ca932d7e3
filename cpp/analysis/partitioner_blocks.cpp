// analysis/partitioner_blocks.cpp - functions of blocks (shard_map), entered by the partitioner.
#include "analysis/partitioner.h"
#include "base/index.h"
#include "base/lists.h"
#include "ir/core_ops.h"
#include "trace/eval_program.h"
#include "trace/stage.h"

namespace shardax {
namespace {

using Axes = std::vector<std::string>;

// Checked axes of a shard_map go by their names on the mesh.
AxisSet on_mesh(const AxisSet& axes) {
  AxisSet out;
  for (const AxisName name : axes) out.push_back(intern_axis(axis_text(name)));
  return out;
}

Values bind_on_mesh(const Equation& eqn, const Values& in);

ProgramPtr program_on_mesh(const Program& program) {
  Types types = program.input_types();
  for (Type& type : types) type.varying = on_mesh(type.varying);
  return stage_closed(
      types, [&](const Values& in) { return eval_program(program, in, bind_on_mesh); },
      program.name);
}

// The op, on parts that devices have already. Ops that only give the state of a value vanish.
Values bind_on_mesh(const Equation& eqn, const Values& in) {
  const bool state = eqn.op->kind == Kind::collective && ops::stays_local(*eqn.op);
  if (state && eqn.params.has("axes")) return in;
  Params params = eqn.params;
  for (const auto& [name, value] : eqn.params) {
    if (const auto* axes = std::get_if<AxisNames>(&value))
      params.set(name, AxisNames{on_mesh(axes->names)});
  }
  if (eqn.op->regions) {
    Regions regions = regions_of(*eqn.op, params);
    for (ProgramPtr& program : regions.programs) program = program_on_mesh(*program);
    params = eqn.op->with_regions(params, regions);
  }
  return shardax::bind(*eqn.op, params, in);
}

}  // namespace

// A function of blocks takes them as its specs say. If it ends with a sum, the terms are known too.
HeldList Partitioner::blocks(const Equation& eqn, const HeldList& in) {
  const MeshAxes mesh_axes = mesh_axes_of(eqn.params);
  const auto split_of = [&](const MeshAxes::Blocks& blocks) {
    Split out;
    for (const Ints& axes : blocks) {
      out.emplace_back();
      for (const std::int64_t axis : axes) out.back().push_back(mesh_axes.text_of(axis));
    }
    return out;
  };
  Values values;
  for (std::size_t i = 0; i < in.size(); ++i)
    values.push_back(value_at(in[i], split_of(mesh_axes.in[i])));
  static const std::vector<const Op*> sums = {&core_ops().psum, &core_ops().psum_invariant,
                                              &core_ops().unreduced_psum};
  const Program& body = *eqn.params.program(param::jaxpr);
  std::vector<Part> terms(body.types.size());  // of variables that are sums over devices
  const Values out =
      eval_program(body, values, [&](const Equation& inner, const Values& operands) -> Values {
        if (without_effects && is_mere_effect(inner)) return {};
        const ParamValue* groups = inner.params.find("axis_index_groups");
        if (has(sums, inner.op) && !(groups && std::holds_alternative<Ints>(*groups))) {
          Axes open;
          for (const AxisName name : inner.params.axes(param::collective_axes))
            open.push_back(axis_text(name));
          terms[index(inner.outputs[0])] = {operands[0], Split(operands[0]->type().rank()), open,
                                            inner.location};
        }
        return bind_on_mesh(inner, operands);
      });
  HeldList all;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Split split = split_of(mesh_axes.out[i]);
    all.push_back(held({out[i], split}));
    Part& term = terms[index(body.outputs[i])];
    if (!term.value) continue;
    term.split = split;
    all.back()->forms.push_back(std::move(term));
  }
  return all;
}

// A function of blocks over processes and the devices of each is one over these, of slabs.
HeldList Partitioner::blocks_of_processes(const Equation& eqn, const HeldList& in) {
  const MeshAxes all = mesh_axes_of(eqn.params);
  MeshAxes within;
  std::vector<std::int64_t> position(all.axes.size(), -1);
  for (std::size_t k = 0; k < all.axes.size(); ++k) {
    const std::string& text = axis_text(all.axes[k].name);
    if (has(mesh_.mesh_axes, text)) continue;
    position[k] = static_cast<std::int64_t>(within.axes.size());
    within.axes.push_back({intern_axis(text), all.axes[k].size});
  }
  // The blocks of an array, as split over processes and over their devices.
  const auto cut = [&](const MeshAxes::Blocks& blocks) {
    std::pair<Split, MeshAxes::Blocks> out{Split(blocks.size()), MeshAxes::Blocks(blocks.size())};
    for (std::size_t d = 0; d < blocks.size(); ++d) {
      for (const std::int64_t axis : blocks[d]) {
        if (position[index(axis)] < 0) {
          out.first[d].push_back(axis_text(all.axes[index(axis)].name));
        } else {
          out.second[d].push_back(position[index(axis)]);
        }
      }
    }
    return out;
  };
  Values values;
  for (std::size_t i = 0; i < in.size(); ++i) {
    auto [split, blocks] = cut(all.in[i]);
    values.push_back(value_at(in[i], split));
    within.in.push_back(std::move(blocks));
  }
  std::vector<Split> splits;
  for (const MeshAxes::Blocks& out : all.out) {
    auto [split, blocks] = cut(out);
    splits.push_back(std::move(split));
    within.out.push_back(std::move(blocks));
  }
  const ProgramPtr body = program_on_mesh(*eqn.params.program(param::jaxpr));
  const Values out = shardax::bind(*eqn.op, shard_map_params(within, body), values);
  HeldList results;
  for (std::size_t i = 0; i < out.size(); ++i) results.push_back(held({out[i], splits[i]}));
  return results;
}

}  // namespace shardax
