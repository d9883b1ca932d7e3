// compile/inline.cpp - calls become their bodies; device axes become array axes.
#include <unordered_map>

#include "compile/passes.h"
#include "control/control.h"
#include "ops/ops.h"
#include "trace/stage.h"
#include "transform/batch.h"

namespace shardax {
namespace {

// For values that repeat along dimensions: what is repeated, and which dimension each of its own
// became.
struct Broadcast {
  Value source;
  Ints dims;
};

class Inliner {
 public:
  Values evaluate(const Program& program, const Values& inputs) {
    Values env(program.types.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) at(env, program.inputs[i]) = inputs[i];
    for (const Constant& c : program.constants) at(env, c.var) = c.value;
    for (const Equation& eqn : program.equations) {
      Values in;
      for (Var v : eqn.inputs) in.push_back(at(env, v));
      Values out = call(eqn, in);
      for (std::size_t i = 0; i < out.size(); ++i) at(env, eqn.outputs[i]) = out[i];
    }
    Values outputs;
    for (Var v : program.outputs) outputs.push_back(at(env, v));
    return outputs;
  }

 private:
  static Value& at(Values& env, Var v) { return env[static_cast<std::size_t>(v)]; }

  Values call(const Equation& eqn, const Values& in) {
    if (eqn.op->body) return evaluate(*eqn.op->body(eqn.params), in);
    if (is_pmap(*eqn.op)) return map(eqn.params, in);
    const LocationScope location(eqn.location);
    Values out = shardax::bind(*eqn.op, eqn.params, in);
    if (eqn.op->name == "broadcast_in_dim") {
      broadcasts_[out[0].get()] = {in[0], eqn.params.ints("broadcast_dimensions")};
      kept_.push_back(out[0]);
    }
    return out;
  }

  // `value` without dimension `axis`, if it merely repeats along it; else null.
  Value uniform(const Value& value, std::int64_t axis) {
    const auto it = broadcasts_.find(value.get());
    if (it == broadcasts_.end()) return nullptr;
    Shape shape = value->shape();
    shape.erase(static_cast<std::size_t>(axis));
    Value source = it->second.source;
    Ints dims;
    std::int64_t unit = -1;
    for (std::size_t i = 0; i < it->second.dims.size(); ++i) {
      const std::int64_t d = it->second.dims[i];
      if (d == axis) {
        if (source->shape()[i] != 1) return nullptr;
        unit = static_cast<std::int64_t>(i);
      } else {
        dims.push_back(d > axis ? d - 1 : d);
      }
    }
    if (unit >= 0) source = ops::squeeze(source, {unit});
    if (source->shape() == shape && dims == ops::iota_ints(dims.size())) return source;
    return repeat(source, shape, dims);
  }

  Value repeat(const Value& source, const Shape& shape, const Ints& dims) {
    const Value out = ops::broadcast_in_dim(source, shape, dims);
    broadcasts_[out.get()] = {source, dims};
    kept_.push_back(out);
    return out;
  }

  Values map(const Params& params, const Values& in) {
    const Ints& in_axes = params.ints("in_axes");
    const Ints& out_axes = params.ints("out_axes");
    const BatchAxis axis{params.integer("axis_size"), params.axes("axis_name")[0], true};
    Values inputs;
    std::vector<bool> batched;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Value same = in_axes[i] < 0 ? in[i] : uniform(in[i], in_axes[i]);
      inputs.push_back(same ? same : ops::moveaxis(in[i], in_axes[i], 0));
      batched.push_back(!same);
    }
    const BatchedProgram body = batch_program(params.program("jaxpr"), batched, axis);
    Values out = evaluate(*body.program, inputs);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t where = out_axes[i];
      if (body.batched[i]) {
        // Unmapped output of a varying value: the first device's.
        out[i] = where < 0 ? ops::index_in_dim(out[i], 0, 0) : ops::moveaxis(out[i], 0, where);
      } else if (where >= 0) {
        Shape shape = out[i]->shape();
        shape.insert(static_cast<std::size_t>(where), axis.size);
        Ints dims;
        for (std::int64_t d = 0; d < static_cast<std::int64_t>(shape.size()); ++d) {
          if (d != where) dims.push_back(d);
        }
        out[i] = repeat(out[i], shape, dims);
      }
    }
    return out;
  }

  std::unordered_map<const ValueBase*, Broadcast> broadcasts_;
  Values kept_;  // keeps the keys of broadcasts_ alive
};

}  // namespace

ProgramPtr inline_calls(const ProgramPtr& program) {
  const bool any = std::any_of(program->equations.begin(), program->equations.end(),
                               [](const Equation& e) { return e.op->body || is_pmap(*e.op); });
  if (!any) return program;
  return stage_closed(
      program->input_types(), [&](const Values& in) { return Inliner().evaluate(*program, in); },
      program->name);
}

ProgramPtr expose_uniform(const ProgramPtr& program, std::vector<Shape>& input_strides) {
  std::vector<Ints> kept(program->inputs.size());
  Types types;
  bool any = false;
  for (std::size_t i = 0; i < program->inputs.size(); ++i) {
    Type type = program->type(program->inputs[i]);
    Shape shape, strides;
    for (std::size_t d = 0; d < type.rank(); ++d) {
      if (type.shape[d] > 1 && input_strides[i][d] == 0) continue;
      kept[i].push_back(static_cast<std::int64_t>(d));
      shape.push_back(type.shape[d]);
      strides.push_back(input_strides[i][d]);
    }
    any = any || shape.size() != type.rank();
    input_strides[i] = strides;
    types.push_back(with_shape(type, shape));
  }
  if (!any) return program;
  return stage_closed(
      types,
      [&](const Values& in) {
        Values full;
        for (std::size_t i = 0; i < in.size(); ++i) {
          const Shape& shape = program->type(program->inputs[i]).shape;
          full.push_back(in[i]->shape() == shape ? in[i]
                                                 : ops::broadcast_in_dim(in[i], shape, kept[i]));
        }
        return shardax::evaluate(*program, full);
      },
      program->name);
}

}  // namespace shardax
