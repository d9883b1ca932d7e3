// analysis/partition.cpp - programs of parts: one shard_map over the mesh that splits arguments.
#include "analysis/partition.h"

#include "analysis/partitioner.h"
#include "base/lists.h"
#include "ir/core_ops.h"
#include "ir/sharding_given.h"
#include "ops/ops.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "trace/stage.h"
#include "transform/dce.h"

namespace shardax {
namespace {

using Axes = std::vector<std::string>;

bool is_divided(const ShardingPtr& sharding) {
  return sharding && sharding->named && sharding->devices.size() > 1;
}

// Can it be walked with parts? Functions of blocks over the same mesh can be entered.
bool has_parts(const Program& program, const Sharding& mesh) {
  return std::ranges::all_of(program.equations, [&](const Equation& eqn) {
    if (eqn.op->kind == Kind::collective) return false;
    if (!eqn.op->regions) return true;
    const Regions regions = eqn.op->regions(eqn.params);
    if (regions.runs == ExecutionKind::mapped) return false;
    if (regions.runs == ExecutionKind::mesh) {
      const MeshAxes mesh_axes = mesh_axes_of(eqn.params);
      return mesh_axes.mesh && mesh_axes.mesh->mesh_axes == mesh.mesh_axes &&
             std::ranges::all_of(mesh_axes.axes, [&](const MeshAxes::Axis& axis) {
               return has(mesh.mesh_axes, axis_text(axis.name));
             });
    }
    return std::ranges::all_of(regions.programs,
                               [&](const ProgramPtr& body) { return has_parts(*body, mesh); });
  });
}

// A program of parts, with the splits of its arguments and results.
class Parting {
 public:
  explicit Parting(const ShardingPtr& mesh)
      : mesh_(with_sums(*with_spec(*mesh, {}), {}, {})), partitioner_(*mesh_) {
    for (std::size_t k = 0; k < mesh->mesh_axes.size(); ++k)
      mesh_axes_.axes.push_back({intern_axis(mesh->mesh_axes[k]), mesh->mesh_shape[k]});
    mesh_axes_.mesh = mesh_;
  }

  Partitioner& partitioner() { return partitioner_; }
  const Sharding& mesh() const { return *mesh_; }

  void take(Type whole, const Split& split) {
    whole.sharding = nullptr;
    mesh_axes_.in.push_back(blocks(split));
    wholes_.push_back(whole);
    types_.push_back(mesh_axes_.block(whole, mesh_axes_.in.back()));
  }
  void give(const Split& split) { mesh_axes_.out.push_back(blocks(split)); }

  // The program of one device. `walk` is called with its parts; operands of effects that it leaves
  // are further results.
  ProgramPtr body(const ValueFunction& walk, const std::string& name) {
    const ShardingGiven asked_already;
    const ProgramPtr staged = [&] {
      const MeshAxesScope scope(mesh_axes_);
      return stage_closed(
          types_,
          [&](const Values& parts) {
            Values out = walk(parts);
            for (const Effect& effect : partitioner_.effects)
              out.insert(out.end(), effect.in.begin(), effect.in.end());
            return out;
          },
          name);
    }();
    // A device asks for nothing that it does not need.
    const std::vector<bool> inputs_kept(types_.size(), true), wanted(staged->outputs.size(), true);
    return dce_program(staged, wanted, &inputs_kept).program;
  }

  // The program of all. Effects that the walk leaves happen once, on its results.
  ProgramPtr program(const ValueFunction& walk, const std::string& name) {
    const ProgramPtr body = this->body(walk, name);
    const ShardingGiven asked_already;
    const std::size_t count = mesh_axes_.out.size();
    for (const Effect& effect : partitioner_.effects) {
      for (const Value& value : effect.in) give(Split(value->type().rank()));
    }
    const Op& shard_map = core_ops().shard_map;
    return stage_closed(
        wholes_,
        [&](const Values& arrays) {
          Values out = shardax::bind(shard_map, shard_map_params(mesh_axes_, body), arrays);
          auto next = out.begin() + static_cast<std::ptrdiff_t>(count);
          for (const Effect& effect : partitioner_.effects) {
            const auto end = next + static_cast<std::ptrdiff_t>(effect.in.size());
            const LocationScope location(effect.equation->location);
            shardax::bind(*effect.equation->op, effect.equation->params, Values(next, end));
            next = end;
          }
          out.resize(count);
          return out;
        },
        name);
  }

 private:
  MeshAxes::Blocks blocks(const Split& split) const {
    MeshAxes::Blocks found;
    for (const Axes& axes : split) {
      found.emplace_back();
      for (const std::string& axis : axes)
        found.back().push_back(std::ranges::find(mesh_->mesh_axes, axis) -
                               mesh_->mesh_axes.begin());
    }
    return found;
  }

  ShardingPtr mesh_;
  Partitioner partitioner_;
  MeshAxes mesh_axes_;
  Types wholes_, types_;
};

// With a dimension for each axis, before the others.
Type stacked_type(Type type, const Axes& axes, const Sharding& mesh) {
  for (std::size_t k = axes.size(); k-- > 0;) type.shape.insert(0, ops::parts_of({axes[k]}, mesh));
  return type;
}
Split stacked_split(Split split, const Axes& axes) {
  for (std::size_t k = axes.size(); k-- > 0;) split.insert(split.begin(), Axes{axes[k]});
  return split;
}
Value with_ones(const Value& x, std::size_t count) {
  Shape shape(count, 1);
  shape.append(x->shape().begin(), x->shape().end());
  return ops::reshape(x, shape);
}
Value without_ones(const Value& x, std::size_t count) {
  return ops::reshape(x, Shape(x->shape().begin() + count, x->shape().end()));
}

// The form of an argument: parts, or the stacked terms of a sum over axes.
struct Taken {
  Split split;
  Axes open;
};
std::vector<Taken> take_all(Parting& parting, const Types& inputs, const Shardings& in,
                            const std::vector<bool>& known) {
  std::vector<Taken> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Split split = parting.partitioner().even(in[i], inputs[i]);
    const Axes open = known[i] ? in[i]->unreduced : Axes();
    parting.take(stacked_type(inputs[i], open, parting.mesh()), stacked_split(split, open));
    out.push_back({split, open});
  }
  return out;
}

HeldList arguments_of(const Values& values, const std::vector<Taken>& taken) {
  HeldList out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out.push_back(
        held({without_ones(values[i], taken[i].open.size()), taken[i].split, taken[i].open}));
  return out;
}

// The walk over a program whose results are split as `out` says.
ValueFunction walk_of(Parting& parting, const ProgramPtr& program, const Shardings& in,
                      const Shardings& out, const std::vector<bool>& known) {
  Partitioner& partitioner = parting.partitioner();
  const Types inputs = program->input_types(), outputs = program->output_types();
  const std::vector<Taken> taken = take_all(parting, inputs, in, known);
  std::vector<Split> out_splits;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    out_splits.push_back(partitioner.even(out[i], outputs[i]));
    parting.give(out_splits[i]);
  }
  return [program, taken, out_splits, &partitioner](const Values& values) {
    const HeldList results = partitioner.run(*program, arguments_of(values, taken));
    const LocationScope nowhere(std::make_shared<const Location>());
    Values parts;
    for (std::size_t i = 0; i < results.size(); ++i)
      parts.push_back(partitioner.value_at(results[i], out_splits[i]));
    return parts;
  };
}

ProgramPtr of_parts(const ProgramPtr& program, const Shardings& in, const std::vector<bool>& known,
                    const ShardingPtr& mesh) {
  Parting parting(mesh);
  const ValueFunction walk = walk_of(parting, program, in, propagate(*program, in), known);
  return parting.program(walk, program->name);
}

// The mesh over which a sum is taken apart.
ShardingPtr mesh_of_terms(const Program& program) {
  ShardingPtr found;
  for (const Equation& eqn : program.equations)
    any_equation(eqn, [&](const Equation& e) {
      if (!found && asks_for_terms(*e.op)) found = e.params.get(param::sharding);
      return bool(found);
    });
  return found;
}

}  // namespace

ProgramPtr partitioned(const ProgramPtr& program, const Shardings& in) {
  const auto first = std::ranges::find_if(in, is_divided);
  if (first == in.end() || !has_parts(*program, **first)) return nullptr;
  const auto maps = [](const Equation& e) { return maps_over_devices(*e.op, e.params); };
  if (std::ranges::all_of(program->equations, maps)) return nullptr;
  return of_parts(program, in, std::vector<bool>(in.size()), *first);
}

ProgramPtr program_of_process(const ProgramPtr& program, const Shardings& in, const Shardings& out,
                              const ShardingPtr& mesh) {
  Parting parting(mesh);
  parting.partitioner().in_processes = true;
  const ValueFunction walk =
      walk_of(parting, program, in, out, std::vector<bool>(in.size(), false));
  return parting.body(walk, program->name);
}

bool asks_for_terms(const Op& op) {
  const Op* terms = &core_ops().partial_sums;
  return &op == terms;
}
bool asks_for_terms(const Program& program) { return bool(mesh_of_terms(program)); }

ProgramPtr partitioned_sums(const ProgramPtr& program, const Shardings& in,
                            const std::vector<bool>& known) {
  const ShardingPtr mesh = mesh_of_terms(*program);
  if (!is_divided(mesh) || !has_parts(*program, *mesh)) return nullptr;
  return of_parts(program, in, known, mesh);
}

ProgramPtr terms_of_results(const Program& program, const Shardings& in,
                            const std::vector<bool>& known, const Shardings& out) {
  const auto first = std::ranges::find_if(out, is_divided);
  if (first == out.end() || !has_parts(program, **first)) return nullptr;
  Parting parting(*first);
  Partitioner& partitioner = parting.partitioner();
  partitioner.without_effects = true;
  const Types inputs = program.input_types(), outputs = program.output_types();
  const std::vector<Taken> taken = take_all(parting, inputs, in, known);
  std::vector<Split> out_splits;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    out_splits.push_back(partitioner.even(out[i], outputs[i]));
    if (is_sum(out[i])) parting.give(stacked_split(out_splits[i], out[i]->unreduced));
  }
  return parting.program(
      [&](const Values& values) {
        const HeldList results = partitioner.run(program, arguments_of(values, taken));
        Values terms;
        for (std::size_t i = 0; i < results.size(); ++i) {
          if (!is_sum(out[i])) continue;
          const Axes& open = out[i]->unreduced;
          terms.push_back(
              with_ones(partitioner.term_at(results[i], out_splits[i], open), open.size()));
        }
        return terms;
      },
      program.name);
}

}  // namespace shardax
