// compile/simplify/pattern_driver.cpp - inlining of calls, batching of device axes, patterns.
#include "compile/simplify/pattern_driver.h"

#include "base/index.h"
#include "base/lists.h"
#include "compile/lower/liveness.h"
#include "compile/passes.h"
#include "compile/simplify/fold_empty.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ops/collectives/process_ops.h"
#include "ops/ops.h"
#include "runtime/interrupt.h"
#include "transform/batch.h"

namespace shardax {
namespace {

// Will its body be walked in place?
bool is_call(const Equation& eqn) {
  if (!eqn.op->regions) return eqn.op->expand || ops::is_over_processes(eqn);
  const ExecutionKind runs = eqn.op->regions(eqn.params).runs;
  return runs == ExecutionKind::once || runs == ExecutionKind::mapped ||
         runs == ExecutionKind::mesh;
}

bool calls(const Program& program) {
  return std::any_of(program.equations.begin(), program.equations.end(), is_call);
}

// A loop without calls that can be inlined into its body, so that rules see all equations.
Equation without_calls(const Equation& eqn, Regions regions) {
  if (regions.runs != ExecutionKind::counted || regions.fixed || !calls(*regions.programs[0]))
    return eqn;
  const ProgramPtr body = regions.programs[0];
  regions.programs[0] = *body->derived<ProgramPtr>(
      "without_calls", [&] { return std::make_shared<ProgramPtr>(simplify(body, false)); });
  Equation out = eqn;
  out.params = eqn.op->with_regions(eqn.params, regions);
  return out;
}

std::optional<Vars> fold_empty_loop(PatternDriver& driver, const Equation& eqn, const Vars& in) {
  return fold_no_turns(driver.builder(), eqn, regions_of(*eqn.op, eqn.params), in);
}

constexpr LoopRewrite rewrites[] = {
    {"fold_empty_loop", "a loop of length 0 gives its carries", "scan[length=0] a -> a",
     fold_empty_loop},
    {"batch_accumulated_dots", "one product after the loop for a sum of products",
     "scan { h = dot f g; i = add e h } -> dot[contract also over the loop] f g",
     batch_accumulated_dots},
    {"split_accumulators", "a carry for each piece that is added to",
     "scan { c = add c (pad x) } -> scan { d = add d x }; pad d", split_accumulators},
    {"sink_carry_permutes", "permutes a carry at the start of the next iteration",
     "scan { h = f c; ppermute h } -> scan { c = ppermute h; f c }", sink_carry_permutes},
    {"sink_broadcasts", "carries repeated values once",
     "scan { b = mul b 2 } (broadcast a) -> broadcast (scan { b = mul b 2 } a)", sink_broadcasts},
};

}  // namespace

std::span<const LoopRewrite> loop_rewrites() { return rewrites; }

Shape without_dims(const Shape& shape, const Ints& dims) {
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!has(dims, static_cast<std::int64_t>(d))) out.push_back(shape[d]);
  }
  return out;
}

Vars PatternDriver::walk(const Program& program, const Vars& inputs) {
  check_stack("a program within programs");
  std::vector<Var> env(program.types.size(), -1);
  const bool counted = uses_ && depth_ == 0;
  const auto define = [&](Var from, Var to) {
    env[index(from)] = to;
    if (counted) builder_.count_uses(to, (*uses_)[index(from)]);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) define(program.inputs[i], inputs[i]);
  for (const Constant& c : program.constants) define(c.var, builder_.constant(c.value));
  ++depth_;
  for (const Equation& eqn : program.equations) {
    Vars in;
    for (Var v : eqn.inputs) in.push_back(env[index(v)]);
    runtime::poll_caller();
    const Vars out = step(eqn, in);
    for (std::size_t i = 0; i < out.size(); ++i) define(eqn.outputs[i], out[i]);
  }
  --depth_;
  Vars outputs;
  for (Var v : program.outputs) outputs.push_back(env[index(v)]);
  return outputs;
}

Vars PatternDriver::walk_narrow(const Program& program, const std::vector<Ints>& repeated) {
  Vars inputs;
  const LocationPtr nowhere;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Type& type = program.type(program.inputs[i]);
    const Var own = builder_.input(with_shape(type, without_dims(type.shape, repeated[i])));
    inputs.push_back(repeat(own, type.shape, repeated[i], nowhere));
  }
  return walk(program, inputs);
}

Vars PatternDriver::equal_shapes(const Vars& in, const LocationPtr& location) {
  Shape shape;
  bool equal = true;
  for (Var v : in) {
    const Shape& own = builder_.type(v).shape;
    if (own.empty() || own == shape) continue;
    equal = equal && shape.empty();
    if (shape.empty()) shape.assign(own.size(), 1);
    for (std::size_t d = 0; d < own.size(); ++d) shape[d] = own[d] == 1 ? shape[d] : own[d];
  }
  if (equal) return in;
  Vars out;
  for (Var v : in) {
    const Shape& own = builder_.type(v).shape;
    if (own.empty() || own == shape) {
      out.push_back(v);
      continue;
    }
    const Params params{{"shape", shape}, {"broadcast_dimensions", ops::iota_ints(own.size())}};
    const Vars source{v};
    const PatternContext match{builder_, core_ops().broadcast_in_dim, params, source, location,
                               false};
    const auto joined = apply_rules(match);
    out.push_back(joined ? (*joined)[0]
                         : builder_.emit1(core_ops().broadcast_in_dim, params, {v}, location));
  }
  return out;
}

Vars PatternDriver::step(const Equation& eqn, const Vars& operands) {
  const bool elementwise = eqn.op->kind == Kind::elementwise;
  const LocationPtr& location = eqn.location ? eqn.location : caller_;
  const Vars in = elementwise ? equal_shapes(operands, location) : operands;
  if (auto folded = fold_empty({builder_, *eqn.op, eqn.params, in, location, false}))
    return *folded;
  if (eqn.op->regions) {
    const Regions regions = eqn.op->regions(eqn.params);
    if (regions.runs == ExecutionKind::once) return walk(*regions.programs[0], in);
    if (regions.runs == ExecutionKind::mapped) return map(eqn, regions, in);
    if (regions.runs == ExecutionKind::mesh) {
      const LocationPtr outer = std::exchange(caller_, LocationPtr(location));
      const Vars out = walk(*mesh_program(*eqn.op, eqn.params), in);
      caller_ = outer;
      return out;
    }
    const Equation loop = without_calls(eqn, regions);
    for (const LoopRewrite& row : loop_rewrites()) {
      if (auto rewritten = row.rewrite(*this, loop, in)) return *rewritten;
    }
    if (regions.runs == ExecutionKind::counted)
      return builder_.emit(*loop.op, loop.params, in, location);
  }
  if (eqn.op->expand || ops::is_over_processes(eqn)) {
    Types types;
    for (Var v : in) types.push_back(builder_.type(v));
    return walk(
        eqn.op->expand ? *eqn.op->expand(eqn.params, types) : *ops::over_processes(eqn, types), in);
  }
  const PatternContext match{builder_, *eqn.op, eqn.params, in, location, uses_ && depth_ == 1};
  if (auto replaced = apply_rules(match)) return *replaced;
  return builder_.emit(*eqn.op, eqn.params, in, location);
}

Ints PatternDriver::repeated_dims(Var v) const {
  Ints out;
  const Equation* broadcast = builder_.defined_by(v, core_ops().broadcast_in_dim);
  if (!broadcast) return out;
  const Type &own = builder_.type(broadcast->inputs[0]), &type = builder_.type(v);
  for (const std::int64_t d :
       dim_factors(*broadcast->op, broadcast->params, {own}, type)->repeated_dims(0)) {
    if (type.shape[index(d)] > 1) out.push_back(d);
  }
  return out;
}

Var PatternDriver::without(Var v, const Ints& dropped, const LocationPtr& location) {
  if (dropped.empty()) return v;
  const Equation* broadcast = builder_.defined_by(v, core_ops().broadcast_in_dim);
  const Shape small = without_dims(builder_.type(v).shape, dropped);
  const Ints dims = broadcast->params.ints(param::broadcast_dimensions);
  Var source = broadcast->inputs[0];
  Ints units, kept;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (has(dropped, dims[i])) {
      units.push_back(static_cast<std::int64_t>(i));
    } else {
      kept.push_back(dims[i] - std::count_if(dropped.begin(), dropped.end(),
                                             [&](std::int64_t d) { return d < dims[i]; }));
    }
  }
  if (!units.empty())
    source = builder_.emit1(core_ops().squeeze, {{"dimensions", units}}, {source}, location);
  if (builder_.type(source).shape == small) return source;
  return builder_.emit1(core_ops().broadcast_in_dim,
                        {{"shape", small}, {"broadcast_dimensions", kept}}, {source}, location);
}

Var PatternDriver::repeat(Var v, const Shape& shape, const Ints& dims,
                          const LocationPtr& location) {
  if (dims.empty()) return v;
  Ints kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
    if (!has(dims, d)) kept.push_back(d);
  }
  return builder_.emit1(core_ops().broadcast_in_dim,
                        {{"shape", shape}, {"broadcast_dimensions", kept}}, {v}, location);
}

Var PatternDriver::moved(Var v, std::int64_t from, std::int64_t to, const LocationPtr& location) {
  if (from == to) return v;
  Ints order;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(builder_.type(v).rank()); ++d) {
    if (d != from) order.push_back(d);
  }
  order.insert(index(to), from);
  return builder_.emit1(core_ops().transpose, {{"permutation", order}}, {v}, location);
}

std::pair<Vars, std::vector<bool>> PatternDriver::mapped_body(const ProgramPtr& body,
                                                              const BatchAxis& axis,
                                                              const Vars& inputs,
                                                              const std::vector<bool>& batched,
                                                              const LocationPtr& location) {
  if (stripmine_) return stripmine_devices(*this, body, axis, inputs, batched, location);
  const BatchedProgram over_axis = batch_program(body, batched, axis);
  return {walk(*over_axis.program, inputs), over_axis.batched};
}

Vars PatternDriver::map(const Equation& eqn, const Regions& regions, const Vars& in) {
  const LocationPtr location = eqn.location ? eqn.location : caller_;
  const BatchAxis axis{regions.length, regions.axis, true};
  Vars inputs;
  std::vector<bool> batched;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const RegionPort& port = regions.operands[i];
    const bool whole = port.flow == PortKind::whole;
    const bool same = whole || has(repeated_dims(in[i]), port.axis);
    batched.push_back(!same);
    if (whole) {
      inputs.push_back(in[i]);
    } else if (same) {
      inputs.push_back(without(in[i], {port.axis}, location));
    } else {
      inputs.push_back(moved(in[i], port.axis, 0, location));
    }
  }
  auto [out, varies] = mapped_body(regions.programs[0], axis, inputs, batched, location);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool stacked = regions.results[i].flow == PortKind::sliced;
    const std::int64_t where = regions.results[i].axis;
    const Shape shape = builder_.type(out[i]).shape;
    if (varies[i] && stacked) {
      out[i] = moved(out[i], 0, where, location);
    } else if (varies[i]) {  // unmapped output of a varying value: the first device's
      Ints limits(shape.begin(), shape.end());
      limits[0] = 1;
      const Ints zeros(shape.size(), 0), ones(shape.size(), 1);
      const Var first =
          builder_.emit1(core_ops().slice,
                         {{"start_indices", zeros}, {"limit_indices", limits}, {"strides", ones}},
                         {out[i]}, location);
      out[i] = builder_.emit1(core_ops().squeeze, {{"dimensions", Ints{0}}}, {first}, location);
    } else if (stacked) {
      Shape full = shape;
      full.insert(index(where), axis.size);
      out[i] = repeat(out[i], full, {where}, location);
    }
  }
  return out;
}

ProgramPtr simplify(const ProgramPtr& program, bool stripmine) {
  // In regions that are walked in place, the uses of values are not known yet. A result is used by
  // others too.
  std::vector<int> uses = count_uses(*program);
  for (const Var v : program->outputs) ++uses[index(v)];
  PatternDriver driver(*program, stripmine, calls(*program) ? nullptr : &uses);
  const Vars out = driver.walk_narrow(*program, std::vector<Ints>(program->inputs.size()));
  return driver.builder().finish({out.begin(), out.end()});
}

ProgramPtr expose_uniform(const ProgramPtr& program, std::vector<Shape>& input_strides,
                          bool stripmine) {
  std::vector<Ints> repeated(program->inputs.size());
  bool any = false;
  for (std::size_t i = 0; i < repeated.size(); ++i) {
    const Shape& shape = program->type(program->inputs[i]).shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] > 1 && input_strides[i][d] == 0)
        repeated[i].push_back(static_cast<std::int64_t>(d));
    }
    any = any || !repeated[i].empty();
    input_strides[i] = without_dims(input_strides[i], repeated[i]);
  }
  if (!any) return program;
  PatternDriver driver(*program, stripmine);
  const Vars out = driver.walk_narrow(*program, repeated);
  return driver.builder().finish({out.begin(), out.end()});
}

}  // namespace shardax
