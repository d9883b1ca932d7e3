// analysis/partition.cpp - a program of whole arrays, walked with a device's parts of them.
#include "analysis/partition.h"

#include <functional>
#include <optional>

#include "analysis/messages.h"
#include "base/lists.h"
#include "base/stack.h"
#include "control/shard_map.h"
#include "ir/bodies.h"
#include "ir/sharding_given.h"
#include "ops/parts.h"
#include "ops/split.h"
#include "ops/sums.h"
#include "runtime/interrupt.h"
#include "trace/stage.h"
#include "transform/prune.h"

namespace shardax {
namespace {

using Axes = std::vector<std::string>;

// An array, in the forms in which a device has come to have it: the first is how it was made.
struct Array {
  std::vector<Part> forms;
  std::function<Value(const Split&)> make = {};  // parts of it, where that takes no whole array
};
using Held = std::shared_ptr<Array>;
using HeldList = std::vector<Held>;

Held held(Part part) { return std::make_shared<Array>(Array{{std::move(part)}}); }

// Sums that are not done yet go through what is linear.
enum class Linear : std::uint8_t { no, alone, factor, sum };
Linear linearity(const Op& op) {
  if (op.sums == ops::sums_added) return Linear::sum;
  if (op.sums == ops::sums_multiplied) return Linear::factor;
  const bool kept = op.sums == ops::sums_kept || (!op.sums && op.kind == Kind::layout);
  return kept ? Linear::alone : Linear::no;
}

class Partitioner {
 public:
  explicit Partitioner(const Sharding& mesh) : mesh_(mesh), messages_(mesh) {
    for (std::size_t k = 0; k < mesh.mesh_axes.size(); ++k)
      names_.push_back(intern_axis(mesh.mesh_axes[k]));
  }

  Split even(const ShardingPtr& sharding, const Type& type) const {
    Split split = sharding && same_mesh(*sharding, mesh_) ? sharding->spec : Split();
    split.resize(type.rank());
    for (std::size_t d = 0; d < split.size(); ++d) {
      if (type.shape[d] % ops::parts_of(split[d], mesh_) != 0) split[d].clear();
    }
    return split;
  }

  HeldList run(const Program& program, const HeldList& inputs) {
    check_stack("a program within programs");
    HeldList env(program.types.size());
    const auto at = [&](Var v) -> Held& { return env[static_cast<std::size_t>(v)]; };
    for (std::size_t i = 0; i < inputs.size(); ++i) at(program.inputs[i]) = inputs[i];
    for (const Constant& c : program.constants)
      at(c.var) = held({c.value, Split(c.value->type().rank())});
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
  static const Part& form(const Held& array) {
    for (const Part& part : array->forms) {
      if (part.open.empty()) return part;
    }
    return array->forms.front();
  }

  // Sums are told of where they were left open, the rest where it is needed.
  Part moved(const Part& part, const Split& split) const {
    const LocationScope location(part.open.empty() ? current_location() : part.location);
    return messages_.resplit(messages_.summed(part, split), split);
  }

  // The array as `split` says, by messages where a device has less.
  Value value_at(const Held& array, const Split& split) {
    for (const Part& part : array->forms) {
      if (part.open.empty() && part.split == split) return part.value;
    }
    array->forms.push_back(array->make ? Part{array->make(split), split}
                                       : moved(form(array), split));
    return array->forms.back().value;
  }
  Value whole(const Held& array) { return value_at(array, Split(form(array).split.size())); }

 private:
  HeldList step(const Equation& eqn, const HeldList& in, const Types& in_types,
                const Types& out_types) {
    const Op& op = *eqn.op;
    if (op.bodies) {
      const Bodies bodies = bodies_of(op, eqn.params);
      if (bodies.runs == Runs::once) return run(*bodies.programs[0], in);
      return bodies.fixed ? on_whole(eqn, in) : loop(eqn, bodies, in);
    }
    if (op.expand) return run(*op.expand(eqn.params, in_types), in);
    if (!op.effect.empty()) return on_whole(eqn, in);
    return leaf(eqn, in, in_types, out_types);
  }

  // Every device does all of it.
  HeldList on_whole(const Equation& eqn, const HeldList& in) {
    Values values;
    for (const Held& array : in) values.push_back(whole(array));
    HeldList out;
    for (const Value& value : shardax::bind(*eqn.op, eqn.params, values))
      out.push_back(held({value, Split(value->type().rank())}));
    return out;
  }

  // The axes over which operands are to be added up, where the op may come before the sum.
  Axes open_through(const Op& op, const HeldList& in, const Types& in_types, const Type& result,
                    const Parts& parts) const {
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
      for (const Axes& axes : parts.in[i]) {
        if (std::any_of(axes.begin(), axes.end(),
                        [&](const std::string& axis) { return has(open, axis); }))
          return {};
      }
    }
    return open;
  }

  HeldList leaf(const Equation& eqn, const HeldList& in, const Types& in_types,
                const Types& out_types) {
    Shardings now;
    for (const Held& array : in) now.push_back(with_spec(mesh_, form(array).split));
    const SplitArgs asked{*eqn.op, eqn.params, in_types, out_types[0], now, mesh_};
    if (eqn.op->split == ops::split_constrained) {
      const Split split = even(with_spec(mesh_, ops::split_constrained(asked)), out_types[0]);
      return {held({value_at(in[0], split), split})};
    }
    Parts parts = ops::parts_of(asked);
    Axes open = open_through(*eqn.op, in, in_types, out_types[0], parts);
    Values values;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool stays_open = !open.empty() && !form(in[i]).open.empty();
      values.push_back(stays_open ? messages_.resplit(form(in[i]), parts.in[i]).value
                                  : value_at(in[i], parts.in[i]));
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
      const std::size_t rank = value->type().rank();
      out.push_back(
          held({value, rank == parts.out.size() ? parts.out : Split(rank), open, eqn.location}));
    }
    if (open.empty() && eqn.params.has("broadcast_dimensions"))
      out[0]->make = broadcaster(eqn, in[0], in_types[0], out_types[0]);
    return out;
  }

  // A part of what repeats an array repeats a part of it.
  std::function<Value(const Split&)> broadcaster(const Equation& eqn, const Held& operand,
                                                 const Type& in, const Type& out) {
    return [this, op = eqn.op, params = eqn.params, operand, in, out](const Split& split) {
      const Ints& dims = params.ints("broadcast_dimensions");
      Split own(in.rank());
      for (std::size_t i = 0; i < own.size(); ++i) {
        const auto d = static_cast<std::size_t>(dims[i]);
        if (in.shape[i] == out.shape[d]) own[i] = split[d];
      }
      return bind1(*op, params.with("shape", ops::part_shape(out, split, mesh_)),
                   {value_at(operand, own)});
    };
  }

  // Carries stay split as they are at first, slices without the dimension that lists them; of
  // branches, results are split as the first one has them.
  HeldList loop(const Equation& eqn, Bodies bodies, const HeldList& in) {
    Values values;
    std::vector<Split> splits;
    Types types;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Port& port = bodies.operands[i];
      Split split = form(in[i]).split;
      if (port.flow == Flow::sliced) split[static_cast<std::size_t>(port.axis)].clear();
      values.push_back(value_at(in[i], split));
      types.push_back(values.back()->type());
      if (port.flow == Flow::carried) types.back().varying = names_;
      if (port.flow == Flow::sliced) {
        types.back().erase_dimension(static_cast<std::size_t>(port.axis));
        split.erase(split.begin() + port.axis);
      }
      splits.push_back(std::move(split));
    }
    std::vector<std::optional<Split>> results(bodies.results.size());
    const std::vector<std::size_t> carried = bodies.operands_of(Flow::carried),
                                   carries = bodies.results_of(Flow::carried);
    for (std::size_t n = 0; n < carries.size(); ++n) results[carries[n]] = splits[carried[n]];
    for (std::size_t k = 0; k < bodies.programs.size(); ++k) {
      const ProgramPtr program = bodies.programs[k];
      const std::vector<std::size_t> taken = bodies.taken_by(k);
      Types own;
      for (const std::size_t i : taken) own.push_back(types[i]);
      bodies.programs[k] = stage_closed(
          own,
          [&](const Values& given) {
            HeldList inputs;
            for (std::size_t n = 0; n < taken.size(); ++n)
              inputs.push_back(held({given[n], splits[taken[n]]}));
            const HeldList made = run(*program, inputs);
            Values out;
            for (std::size_t r = 0; r < made.size(); ++r) {
              if (!bodies.gives_results(k)) {
                out.push_back(whole(made[r]));
                continue;
              }
              if (!results[r]) results[r] = form(made[r]).split;
              out.push_back(value_at(made[r], *results[r]));
            }
            return out;
          },
          program->name);
    }
    const Values out = shardax::bind(*eqn.op, eqn.op->with_bodies(eqn.params, bodies), values);
    HeldList all;
    for (std::size_t r = 0; r < out.size(); ++r) {
      Split split = *results[r];
      if (bodies.results[r].flow == Flow::sliced)
        split.emplace(split.begin() + bodies.results[r].axis);
      all.push_back(held({out[r], std::move(split)}));
    }
    return all;
  }

  const Sharding& mesh_;
  const Messages messages_;
  AxisSet names_;
};

bool is_divided(const ShardingPtr& sharding) {
  return sharding && sharding->named && sharding->devices.size() > 1;
}

}  // namespace

ProgramPtr partitioned(const ProgramPtr& program, const Shardings& in) {
  const auto first = std::find_if(in.begin(), in.end(), is_divided);
  const bool maps =
      std::any_of(program->equations.begin(), program->equations.end(), [](const Equation& eqn) {
        return any_equation(eqn, [](const Equation& e) {
          return e.op->kind == Kind::collective || maps_over_devices(*e.op, e.params);
        });
      });
  if (first == in.end() || maps) return nullptr;
  const Shardings out = propagate(*program, in);
  const Sharding& mesh = **first;
  Partitioner partitioner(mesh);
  Grid grid;
  for (std::size_t k = 0; k < mesh.mesh_axes.size(); ++k)
    grid.axes.push_back({intern_axis(mesh.mesh_axes[k]), mesh.mesh_shape[k]});
  grid.mesh = *first;
  const auto blocks = [&](const Split& split) {
    Grid::Blocks found;
    for (const Axes& axes : split) {
      found.emplace_back();
      for (const std::string& axis : axes)
        found.back().push_back(std::find(mesh.mesh_axes.begin(), mesh.mesh_axes.end(), axis) -
                               mesh.mesh_axes.begin());
    }
    return found;
  };
  const Types inputs = program->input_types(), outputs = program->output_types();
  std::vector<Split> in_splits, out_splits;
  Types types, wholes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    in_splits.push_back(partitioner.even(in[i], inputs[i]));
    grid.in.push_back(blocks(in_splits[i]));
    wholes.push_back(inputs[i]);
    wholes.back().sharding = nullptr;
    types.push_back(grid.block(wholes.back(), grid.in[i]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    out_splits.push_back(partitioner.even(out[i], outputs[i]));
    grid.out.push_back(blocks(out_splits[i]));
  }
  const ShardingGiven asked_already;
  const ProgramPtr staged = [&] {
    const GridScope scope(grid);
    return stage_closed(
        types,
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
  }();
  // A device asks for nothing that it does not need.
  const std::vector<bool> inputs_kept(inputs.size(), true), wanted(outputs.size(), true);
  const ProgramPtr body = prune_program(staged, wanted, &inputs_kept).program;
  static const Op& shard_map = *find_op("shard_map");
  return stage_closed(
      wholes,
      [&](const Values& arrays) {
        return shardax::bind(shard_map, shard_map_params(grid, body), arrays);
      },
      program->name);
}

}  // namespace shardax
