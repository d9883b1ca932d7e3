// analysis/partition.cpp - programs of parts: one shard_map over the mesh that splits arguments.
#include "analysis/partition.h"

#include "analysis/partitioner.h"
#include "base/lists.h"
#include "ir/sharding_given.h"
#include "ops/ops.h"
#include "ops/split.h"
#include "trace/stage.h"
#include "transform/prune.h"

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
    if (!eqn.op->bodies) return true;
    const Bodies bodies = eqn.op->bodies(eqn.params);
    if (bodies.runs == Runs::mapped) return false;
    if (bodies.runs == Runs::grid) {
      const Grid grid = grid_of(eqn.params);
      return grid.mesh && grid.mesh->mesh_axes == mesh.mesh_axes &&
             std::ranges::all_of(grid.axes, [&](const Grid::Axis& axis) {
               return has(mesh.mesh_axes, axis_text(axis.name));
             });
    }
    return std::ranges::all_of(bodies.programs,
                               [&](const ProgramPtr& body) { return has_parts(*body, mesh); });
  });
}

// A program of parts: how what it takes and gives is split, and what it does.
class Parting {
 public:
  explicit Parting(const ShardingPtr& mesh)
      : mesh_(with_sums(*with_spec(*mesh, {}), {}, {})), partitioner_(*mesh_) {
    for (std::size_t k = 0; k < mesh->mesh_axes.size(); ++k)
      grid_.axes.push_back({intern_axis(mesh->mesh_axes[k]), mesh->mesh_shape[k]});
    grid_.mesh = mesh_;
  }

  Partitioner& partitioner() { return partitioner_; }

  void take(Type whole, const Split& split) {
    whole.sharding = nullptr;
    grid_.in.push_back(blocks(split));
    wholes_.push_back(whole);
    types_.push_back(grid_.block(whole, grid_.in.back()));
  }
  void give(const Split& split) { grid_.out.push_back(blocks(split)); }

  // `walk` is called with a device's parts.
  ProgramPtr program(const ValueFunction& walk, const std::string& name) const {
    const ShardingGiven asked_already;
    const ProgramPtr staged = [&] {
      const GridScope scope(grid_);
      return stage_closed(types_, walk, name);
    }();
    // A device asks for nothing that it does not need.
    const std::vector<bool> inputs_kept(types_.size(), true), wanted(grid_.out.size(), true);
    const ProgramPtr body = prune_program(staged, wanted, &inputs_kept).program;
    static const Op& shard_map = *find_op("shard_map");
    return stage_closed(
        wholes_,
        [&](const Values& arrays) {
          return shardax::bind(shard_map, shard_map_params(grid_, body), arrays);
        },
        name);
  }

 private:
  Grid::Blocks blocks(const Split& split) const {
    Grid::Blocks found;
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
  Grid grid_;
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

}  // namespace

ProgramPtr partitioned(const ProgramPtr& program, const Shardings& in) {
  const auto first = std::ranges::find_if(in, is_divided);
  if (first == in.end() || !has_parts(*program, **first)) return nullptr;
  const auto maps = [](const Equation& e) { return maps_over_devices(*e.op, e.params); };
  if (std::ranges::all_of(program->equations, maps)) return nullptr;
  const Shardings out = propagate(*program, in);
  Parting parting(*first);
  Partitioner& partitioner = parting.partitioner();
  const Types inputs = program->input_types(), outputs = program->output_types();
  std::vector<Split> in_splits, out_splits;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    in_splits.push_back(partitioner.even(in[i], inputs[i]));
    parting.take(inputs[i], in_splits[i]);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    out_splits.push_back(partitioner.even(out[i], outputs[i]));
    parting.give(out_splits[i]);
  }
  return parting.program(
      [&](const Values& values) {
        HeldList arguments;
        for (std::size_t i = 0; i < values.size(); ++i)
          arguments.push_back(held({values[i], in_splits[i]}));
        const HeldList results = partitioner.run(*program, arguments);
        const LocationScope nowhere(std::make_shared<const Location>());
        Values parts;
        for (std::size_t i = 0; i < results.size(); ++i)
          parts.push_back(partitioner.value_at(results[i], out_splits[i]));
        return parts;
      },
      program->name);
}

ProgramPtr terms_of_results(const Program& program, const Shardings& in,
                            const std::vector<bool>& known, const Shardings& out) {
  const auto first = std::ranges::find_if(out, is_divided);
  if (first == out.end() || !has_parts(program, **first)) return nullptr;
  const Sharding& mesh = **first;
  Parting parting(*first);
  Partitioner& partitioner = parting.partitioner();
  const Types inputs = program.input_types(), outputs = program.output_types();
  std::vector<Split> in_splits;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    in_splits.push_back(partitioner.even(in[i], inputs[i]));
    if (!known[i]) {
      parting.take(inputs[i], in_splits[i]);
    } else {
      parting.take(stacked_type(inputs[i], in[i]->unreduced, mesh),
                   stacked_split(in_splits[i], in[i]->unreduced));
    }
  }
  std::vector<Split> out_splits;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    out_splits.push_back(partitioner.even(out[i], outputs[i]));
    if (is_sum(out[i])) parting.give(stacked_split(out_splits[i], out[i]->unreduced));
  }
  return parting.program(
      [&](const Values& values) {
        HeldList arguments;
        for (std::size_t i = 0; i < values.size(); ++i) {
          const Axes open = known[i] ? in[i]->unreduced : Axes();
          arguments.push_back(held({without_ones(values[i], open.size()), in_splits[i], open}));
        }
        const HeldList results = partitioner.run(program, arguments);
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
