// explain/variation.cpp - following values from the arguments through calls, maps and loops.
#include "explain/variation.h"

#include <algorithm>

#include "array/process_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "control/shard_map.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ops/collectives/family.h"

namespace shardax {
namespace {

// The facts about a value.
struct Fact {
  AxisSet varying = {};  // over axes in scope
  Ints equal = {};       // dimensions whose slices are equal
  int input = -1;        // the argument that it is
  int source = -1;       // the equation that gives it
  // For a result of a mapped function: one device's part.
  std::shared_ptr<Boundary> part = {};
};
using Facts = std::vector<Fact>;

Ints without_dimension(const Ints& dims, std::int64_t dropped) {
  Ints out;
  for (const std::int64_t d : dims) {
    if (d != dropped) out.push_back(d > dropped ? d - 1 : d);
  }
  return out;
}

// Dimensions along which a broadcast repeats its operand, or that have one element.
Ints repeated(const Equation& eqn, const Type& in, const Type& out) {
  if (eqn.op != &core_ops().broadcast_in_dim) return {};
  Ints equal = dim_factors(*eqn.op, eqn.params, {in}, out)->repeated_dims(0);
  for (std::size_t d = 0; d < out.rank(); ++d) {
    if (out.shape[d] == 1 && !has(equal, static_cast<std::int64_t>(d)))
      equal.push_back(static_cast<std::int64_t>(d));
  }
  return equal;
}

class Walk {
 public:
  explicit Walk(TaggedProgram& tagged) : tagged_(tagged) {}

  Variation run(const std::vector<Ints>& equal) {
    const Program& program = *tagged_.program;
    Facts in;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
      const Type& type = program.type(program.inputs[i]);
      found_.inputs.push_back({type, type, {}, {}, {}, {}, -1, equal[i]});
      in.push_back({{}, equal[i], static_cast<int>(i)});
    }
    const Facts out = walk(program, in);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Type& type = program.type(program.outputs[i]);
      Boundary result = out[i].part ? *out[i].part : Boundary{type, type, {}, {}, {}, {}, -1, {}};
      result.whole = type;
      result.source = out[i].source;
      found_.outputs.push_back(std::move(result));
    }
    return std::move(found_);
  }

 private:
  Facts walk(const Program& program, const Facts& inputs) {
    check_stack("a program within programs");
    Facts env(program.types.size());
    const auto at = [&](Var v) -> Fact& { return env[index(v)]; };
    for (std::size_t i = 0; i < inputs.size(); ++i) at(program.inputs[i]) = inputs[i];
    for (const Equation& eqn : program.equations) {
      Facts in;
      for (Var v : eqn.inputs) in.push_back(at(v));
      Facts out = step(program, eqn, in);
      for (std::size_t i = 0; i < out.size(); ++i) at(eqn.outputs[i]) = std::move(out[i]);
    }
    Facts outputs;
    for (Var v : program.outputs) outputs.push_back(at(v));
    return outputs;
  }

  Facts step(const Program& program, const Equation& eqn, const Facts& in) {
    const int number = tagged_.source_of(eqn);
    if (!eqn.op->regions) {
      Facts out = own(program, eqn, in, number);
      record(number, in, out);
      return out;
    }
    const Regions regions = eqn.op->regions(eqn.params);
    Facts out;
    switch (regions.runs) {
      case ExecutionKind::once: out = walk(*regions.programs[0], in); break;
      case ExecutionKind::mapped: out = mapped(regions, in); break;
      case ExecutionKind::mesh:
        out = mesh_axes(mesh_axes_of(eqn.params), *regions.programs[0], in);
        break;
      default: {
        const int outer = std::exchange(loop_, number);
        const double outer_times = times_;
        if (regions.runs == ExecutionKind::counted) times_ *= static_cast<double>(regions.length);
        out = regions.runs == ExecutionKind::one_of ? branches(regions, in) : iterated(regions, in);
        loop_ = outer;
        times_ = outer_times;
        for (Fact& fact : out) fact = {fact.varying, {}, -1, number};
      }
    }
    record(number, in, out);
    return out;
  }

  void record(int number, const Facts& in, const Facts& out) {
    if (number < 0) return;
    Source& source = tagged_.sources[index(number)];
    source.axes = scope_;
    source.in.clear();
    source.out.clear();
    source.needs.clear();
    source.arguments.clear();
    for (const Fact& fact : in) {
      source.in.push_back(fact.varying);
      source.needs.push_back(fact.source);
      source.arguments.push_back(fact.input);
    }
    for (const Fact& fact : out) source.out.push_back(fact.varying);
    source.times = times_;
    source.loop = loop_;
  }

  Facts own(const Program& program, const Equation& eqn, const Facts& in, int number) const {
    Fact fact;
    fact.source = number;
    bool first = true;
    for (std::size_t i = 0; i < in.size(); ++i) {
      fact.varying = join(fact.varying, in[i].varying);
      if (eqn.op->kind != Kind::elementwise || program.type(eqn.inputs[i]).rank() == 0) continue;
      Ints both;
      for (const std::int64_t d : in[i].equal) {
        if (first || has(fact.equal, d)) both.push_back(d);
      }
      fact.equal = both;
      first = false;
    }
    if (eqn.op->kind == Kind::layout && eqn.inputs.size() == 1 && !eqn.outputs.empty())
      fact.equal = repeated(eqn, program.type(eqn.inputs[0]), program.type(eqn.outputs[0]));
    if (eqn.op->kind == Kind::collective) fact.varying = after_collective(program, eqn, in);
    if (!eqn.op->effect.empty()) {
      for (const MappedAxis& axis : scope_) fact.varying = join(fact.varying, AxisSet{axis.name});
    }
    return Facts(eqn.outputs.size(), fact);
  }

  std::int64_t size_of(AxisName name) const {
    for (const MappedAxis& axis : scope_) {
      if (axis.name == name) return axis.size;
    }
    return is_process_axis(name) ? process_axis_size(name) : 1;
  }

  // The op's own rule decides, with its axes taken as one.
  AxisSet after_collective(const Program& program, const Equation& eqn, const Facts& in) const {
    static const AxisName together = intern_axis("<devices>");
    const AxisSet axes = ops::collective_axes(eqn.params);
    AxisSet rest;
    std::int64_t size = 1;
    for (AxisName axis : axes) size *= size_of(axis);
    MutableProgram alone(new Program);
    std::vector<bool> varies;
    Equation copy{eqn.op, eqn.params, {}, {}, eqn.location};
    const auto& key = eqn.params.has("axes") ? param::collective_axes : param::axis_name;
    copy.params.set(key, AxisNames{{together}});
    Types types;
    for (std::size_t i = 0; i < in.size(); ++i) {
      Type type = program.type(eqn.inputs[i]);
      type.varying = {};
      type.sharding = nullptr;
      types.push_back(type);
      copy.inputs.push_back(alone->add(type));
      alone->inputs.push_back(copy.inputs.back());
      rest = join(rest, in[i].varying);
      varies.push_back(std::any_of(axes.begin(), axes.end(),
                                   [&](AxisName axis) { return contains(in[i].varying, axis); }));
    }
    const AxisScope scope(BoundAxis{together, size, true});
    for (const Type& type : infer_types(*eqn.op, types, copy.params))
      copy.outputs.push_back(alone->add(type));
    alone->outputs = {copy.outputs.begin(), copy.outputs.end()};
    alone->equations.push_back(std::move(copy));
    const BatchedProgram batched = batch_program(alone, varies, {size, together, true});
    for (AxisName axis : axes)
      rest = batched.batched[0] ? join(rest, AxisSet{axis}) : without(rest, axis);
    return rest;
  }

  // ---- mapped functions -----------------------------------------------------------------------

  void enter(AxisName name, std::int64_t size) {
    scope_.push_back({name, size});
    const bool known = std::any_of(found_.axes.begin(), found_.axes.end(),
                                   [&](const MappedAxis& axis) { return axis.name == name; });
    if (!known) found_.axes.push_back(scope_.back());
  }

  // An argument of the whole program reaches a device as `device`.
  void reaches(const Fact& fact, const Type& device, AxisName axis, std::int64_t size, bool split,
               bool varies) {
    if (fact.input < 0) return;
    Boundary& input = found_.inputs[index(fact.input)];
    input.device = device;
    const bool known = std::any_of(input.axes.begin(), input.axes.end(),
                                   [&](const MappedAxis& a) { return a.name == axis; });
    if (!known) input.axes.push_back({axis, size});
    if (split) input.split = join(input.split, AxisSet{axis});
    if (varies) input.varying = join(input.varying, AxisSet{axis});
  }

  // The fact of a result that leaves the mapped function over an axis.
  static Fact leaves(const Fact& inner, const Type& device, const std::vector<MappedAxis>& axes,
                     const AxisSet& split) {
    Fact out;
    out.source = inner.source;
    out.varying = inner.varying;
    out.part = std::make_shared<Boundary>();
    out.part->device = device;
    if (inner.part) *out.part = *inner.part;
    out.part->axes.insert(out.part->axes.begin(), axes.begin(), axes.end());
    for (const MappedAxis& axis : axes) {
      const AxisSet name{axis.name};
      const bool varies = contains(inner.varying, axis.name);
      const bool is_split = contains(split, axis.name);
      if (is_split) out.part->split = join(out.part->split, name);
      if (varies) out.part->varying = join(out.part->varying, name);
      if (varies && !is_split) out.part->dropped = join(out.part->dropped, name);
      out.varying = without(out.varying, axis.name);
    }
    return out;
  }

  Facts mapped(const Regions& regions, const Facts& in) {
    const Program& body = *regions.programs[0];
    enter(regions.axis, regions.length);
    Facts inputs;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const RegionPort& port = regions.operands[i];
      const bool split = port.flow == PortKind::sliced;
      const bool varies = split && !has(in[i].equal, port.axis);
      Fact fact{in[i].varying, in[i].equal, in[i].input, in[i].source};
      if (split) fact.equal = without_dimension(fact.equal, port.axis);
      if (varies) fact.varying = join(fact.varying, AxisSet{regions.axis});
      reaches(in[i], body.type(body.inputs[i]), regions.axis, regions.length, split, varies);
      inputs.push_back(std::move(fact));
    }
    const Facts results = walk(body, inputs);
    scope_.pop_back();
    Facts out;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const RegionPort& port = regions.results[i];
      const bool split = port.flow == PortKind::sliced;
      Fact fact = leaves(results[i], body.type(body.outputs[i]), {{regions.axis, regions.length}},
                         split ? AxisSet{regions.axis} : AxisSet{});
      if (split && !contains(results[i].varying, regions.axis)) fact.equal = {port.axis};
      out.push_back(std::move(fact));
    }
    return out;
  }

  Facts mesh_axes(const MeshAxes& mesh_axes, const Program& body, const Facts& in) {
    for (const MeshAxes::Axis& axis : mesh_axes.axes) enter(axis.name, axis.size);
    Facts inputs;
    for (std::size_t i = 0; i < in.size(); ++i) {
      Fact fact{in[i].varying, in[i].equal, in[i].input, in[i].source};
      for (std::size_t k = 0; k < mesh_axes.axes.size(); ++k) {
        bool split = false, varies = false;
        for (std::size_t d = 0; d < mesh_axes.in[i].size(); ++d) {
          if (!has(mesh_axes.in[i][d], static_cast<std::int64_t>(k))) continue;
          split = true;
          varies = !has(in[i].equal, static_cast<std::int64_t>(d));
        }
        if (varies) fact.varying = join(fact.varying, AxisSet{mesh_axes.axes[k].name});
        reaches(in[i], body.type(body.inputs[i]), mesh_axes.axes[k].name, mesh_axes.axes[k].size,
                split, varies);
      }
      inputs.push_back(std::move(fact));
    }
    const Facts results = walk(body, inputs);
    scope_.resize(scope_.size() - mesh_axes.axes.size());
    std::vector<MappedAxis> axes;
    for (const MeshAxes::Axis& axis : mesh_axes.axes) axes.push_back({axis.name, axis.size});
    Facts out;
    for (std::size_t i = 0; i < results.size(); ++i) {
      AxisSet split;
      for (const Ints& dimension : mesh_axes.out[i]) {
        for (const std::int64_t entry : dimension) {
          if (const MeshAxes::Axis* axis = mesh_axes.axis(entry))
            split = join(split, AxisSet{axis->name});
        }
      }
      out.push_back(leaves(results[i], body.type(body.outputs[i]), axes, split));
    }
    return out;
  }

  // ---- loops and branches ---------------------------------------------------------------------

  static Facts taken(const Regions& regions, std::size_t program, const Facts& in) {
    Facts out;
    for (const std::size_t i : regions.taken_by(program)) {
      const bool whole = regions.operands[i].flow == PortKind::whole;
      out.push_back({in[i].varying, whole ? in[i].equal : Ints{}, whole ? in[i].input : -1});
    }
    return out;
  }

  Facts branches(const Regions& regions, const Facts& in) {
    Facts out;
    for (std::size_t k = 0; k < regions.programs.size(); ++k) {
      const Facts one = walk(*regions.programs[k], taken(regions, k, in));
      if (out.empty()) out.resize(one.size());
      for (std::size_t i = 0; i < one.size(); ++i)
        out[i].varying = join(join(out[i].varying, one[i].varying), in[0].varying);
    }
    return out;
  }

  // Values that vary after an iteration vary before the next.
  Facts iterated(const Regions& regions, const Facts& in) {
    Facts now = in;
    const std::vector<std::size_t> before = regions.operands_of(PortKind::carried);
    const std::vector<std::size_t> after = regions.results_of(PortKind::carried);
    const std::size_t body = regions.runs == ExecutionKind::looped ? 1 : 0;
    for (;;) {
      AxisSet count;  // over which the number of iterations varies
      if (body == 1) count = walk(*regions.programs[0], taken(regions, 0, now))[0].varying;
      Facts out = walk(*regions.programs[body], taken(regions, body, now));
      bool settled = true;
      for (Fact& fact : out) fact.varying = join(fact.varying, count);
      for (std::size_t n = 0; n < before.size(); ++n) {
        const AxisSet joined = join(now[before[n]].varying, out[after[n]].varying);
        settled = settled && joined == now[before[n]].varying;
        now[before[n]].varying = out[after[n]].varying = joined;
      }
      if (settled) return out;
    }
  }

  TaggedProgram& tagged_;
  Variation found_;
  std::vector<MappedAxis> scope_;
  double times_ = 1;
  int loop_ = -1;
};

}  // namespace

Variation find_variation(TaggedProgram& program, const std::vector<Ints>& equal) {
  return Walk(program).run(equal);
}

}  // namespace shardax
