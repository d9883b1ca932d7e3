// compile/loops/stripmine_devices.cpp - strip-mining of the device axis of a mapped function.
//
// Over the whole device axis each temporary exists once per device. The equations of a body between
// its collectives are a segment. A segment becomes a scan over chunks of devices, so that
// temporaries take the memory of one chunk. Sums over devices are added up chunk by chunk:
//   psum(clip(grad(w, x)))   ->   scan over chunks: acc + reduce_sum(clip(grad(w, x of the chunk)))
// Values that cross from one segment to the next are stacked. Chunks are fixed by shapes: the same
// bits come out for any number of threads.
#include <algorithm>

#include "base/index.h"
#include "compile/passes.h"
#include "compile/simplify/pattern_driver.h"
#include "compile/tuning.h"
#include "control/map_divergent.h"
#include "ir/core_ops.h"
#include "ops/collectives/sum_groups.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

// The largest divisor of `n` up to `most`, at least 1.
std::int64_t divisor(std::int64_t n, std::int64_t most) {
  for (std::int64_t d = std::min(n, most); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

bool is_low_precision(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

class Segments {
 public:
  Segments(PatternDriver& driver, const ProgramPtr& body, const BatchAxis& axis,
           const LocationPtr& location)
      : rewriter_(driver),
        builder_(driver.builder()),
        body_(eliminate_dead_code(simplify(body))),
        axis_(axis),
        location_(location),
        held_(body_->types.size()),
        varying_(body_->types.size(), false),
        level_(body_->types.size(), 0),
        constants_(body_->types.size(), nullptr),
        is_output_(body_->types.size(), false),
        users_(body_->types.size()) {
    for (const Constant& c : body_->constants) constants_[index(c.var)] = &c;
    for (Var v : body_->outputs) is_output_[index(v)] = true;
    for (std::size_t e = 0; e < body_->equations.size(); ++e) {
      for (Var v : body_->equations[e].inputs) {
        Equations& users = users_[index(v)];
        if (users.empty() || users.back() != e) users.push_back(e);
      }
    }
  }

  std::pair<Vars, std::vector<bool>> run(const Vars& inputs, const std::vector<bool>& batched) {
    for (std::size_t i = 0; i < inputs.size(); ++i) hold(body_->inputs[i], inputs[i], batched[i]);
    for (const Constant& c : body_->constants) hold(c.var, builder_.constant(c.value), false);
    find_levels();
    for (const Level& level : levels_) {
      evaluate(level.uniform);
      run_segment(level.segment);
      for (std::size_t e : level.boundary) {
        if (held_[index(body_->equations[e].outputs[0])].var < 0) evaluate({e});
      }
    }
    std::pair<Vars, std::vector<bool>> out;
    for (Var v : body_->outputs) {
      out.first.push_back(held_[index(v)].var);
      out.second.push_back(held_[index(v)].batched);
    }
    return out;
  }

 private:
  using Equations = std::vector<std::size_t>;
  // Equations that need the same number of collectives before them.
  struct Level {
    Equations uniform;   // equations that do not vary over the devices
    Equations segment;   // equations that vary
    Equations boundary;  // then: collectives, and effects, which keep their order
  };
  struct LoopValue {
    Var var = -1;
    bool batched = false;
  };

  // Some rules give every device a copy of a value that does not vary.
  void hold(Var v, Var value, bool batched) {
    held_[index(v)] = {value, batched};
    varying_[index(v)] = batched;
  }

  void find_levels() {
    std::size_t last_effect = 0;
    for (std::size_t e = 0; e < body_->equations.size(); ++e) {
      const Equation& eqn = body_->equations[e];
      const bool effects = has_effects(eqn);
      const bool boundary = effects || communicates(eqn, axis_.name);
      std::size_t level = effects ? last_effect : 0;
      bool varies = false;
      for (Var v : eqn.inputs) {
        level = std::max(level, level_[index(v)]);
        varies = varies || varying_[index(v)];
      }
      if (levels_.size() <= level + 1) levels_.resize(level + 2);
      Level& at = levels_[level];
      // Equations without operands, such as axis_index, wait for nothing.
      const bool source = boundary && eqn.inputs.empty() && !effects;
      (source || !(boundary || varies) ? at.uniform
       : boundary                      ? at.boundary
                                       : at.segment)
          .push_back(e);
      const std::vector<bool> outputs = boundary
                                            ? batched_part({e}, outputs_of(eqn), axis_.size).batched
                                            : std::vector<bool>(eqn.outputs.size(), varies);
      for (std::size_t i = 0; i < eqn.outputs.size(); ++i) {
        varying_[index(eqn.outputs[i])] = outputs[i];
        level_[index(eqn.outputs[i])] = boundary && !source ? level + 1 : level;
      }
      if (effects) last_effect = level + 1;
    }
  }

  static std::vector<Var> outputs_of(const Equation& eqn) {
    return {eqn.outputs.begin(), eqn.outputs.end()};
  }

  // Some of the body's equations as a program with variables of its own. Its inputs stand for
  // `inputs`, the values of the body that they need.
  MutableProgram part_of_body(const Equations& equations, const std::vector<Var>& outputs,
                              std::vector<Var>& inputs) const {
    const MutableProgram out(new Program);
    out->name = body_->name;
    std::vector<Var> own(body_->types.size(), -1);
    const auto add = [&](Var v) { return own[index(v)] = out->add(body_->type(v)); };
    const auto needed = [&](Var v) {
      if (own[index(v)] >= 0) return own[index(v)];
      if (const Constant* constant = constants_[index(v)]) {
        out->constants.push_back({add(v), constant->value});
      } else {
        inputs.push_back(v);
        out->inputs.push_back(add(v));
      }
      return own[index(v)];
    };
    for (std::size_t e : equations) {
      Equation eqn = body_->equations[e];
      for (Var& v : eqn.inputs) v = needed(v);
      for (Var& v : eqn.outputs) v = add(v);
      out->equations.push_back(std::move(eqn));
    }
    for (Var v : outputs) out->outputs.push_back(own[index(v)]);
    return out;
  }

  struct Part {
    std::vector<Var> inputs;  // of the body
    ProgramPtr program;
    std::vector<bool> batched;
  };
  Part batched_part(const Equations& equations, const std::vector<Var>& outputs, std::int64_t size,
                    const std::vector<bool>* wanted = nullptr) const {
    std::vector<Var> inputs;
    const MutableProgram program = part_of_body(equations, outputs, inputs);
    std::vector<bool> batched;
    for (Var v : inputs) batched.push_back(varying_[index(v)]);
    const BatchedProgram result =
        batch_program(program, batched, {size, axis_.name, axis_.devices}, wanted);
    return {std::move(inputs), result.program, result.batched};
  }

  // The results of these equations that others need.
  std::vector<Var> wanted_outputs(const Equations& equations) const {
    std::vector<bool> inside(body_->equations.size(), false);
    for (std::size_t e : equations) inside[e] = true;
    std::vector<Var> out;
    for (std::size_t e : equations) {
      for (Var v : body_->equations[e].outputs) {
        const Equations& users = users_[index(v)];
        if (is_output_[index(v)] ||
            std::any_of(users.begin(), users.end(), [&](std::size_t u) { return !inside[u]; }))
          out.push_back(v);
      }
    }
    return out;
  }

  // Over the whole axis at once.
  void evaluate(const Equations& equations) {
    if (equations.empty()) return;
    const std::vector<Var> outputs = wanted_outputs(equations);
    const Part part = batched_part(equations, outputs, axis_.size);
    Vars in;
    for (Var v : part.inputs) in.push_back(held_[index(v)].var);
    const Vars out = rewriter_.walk(*part.program, in);
    for (std::size_t i = 0; i < outputs.size(); ++i) hold(outputs[i], out[i], part.batched[i]);
  }

  // A psum over this axis alone of a value that nothing else uses: it can be added up in any order.
  bool is_sum_of(const Equation& eqn, Var v) const {
    const Params& p = eqn.params;
    if (eqn.op != &core_ops().psum || eqn.inputs[0] != v || p.has("stacked") ||
        ops::has_sum_groups(p))
      return false;
    const auto* groups = p.find("axis_index_groups");
    return p.axes(param::collective_axes) == AxisSet{axis_.name} &&
           (!groups || std::holds_alternative<std::monostate>(*groups));
  }

  void run_segment(const Equations& segment) {
    if (segment.empty()) return;
    Equations equations = segment;
    std::vector<Var> sums, crossing;
    for (Var v : wanted_outputs(segment)) {
      const Equations& users = users_[index(v)];
      if (!is_output_[index(v)] && users.size() == 1 && is_sum_of(body_->equations[users[0]], v)) {
        equations.push_back(users[0]);
        sums.push_back(body_->equations[users[0]].outputs[0]);
      } else {
        crossing.push_back(v);
      }
    }
    std::int64_t bytes = 0;  // of one device's temporaries
    for (std::size_t e : segment) {
      for (Var v : body_->equations[e].outputs) {
        if (std::find(crossing.begin(), crossing.end(), v) == crossing.end())
          bytes += body_->type(v).bytes();
      }
    }
    const std::int64_t size = divisor(
        axis_.size, tuning::stripmine_devices::chunk_bytes / std::max<std::int64_t>(bytes, 1));
    if (size == axis_.size) {
      evaluate(segment);
    } else {
      scan_chunks(equations, sums, crossing, size);
    }
  }

  void scan_chunks(const Equations& equations, const std::vector<Var>& sums,
                   const std::vector<Var>& crossing, std::int64_t size) {
    std::vector<Var> outputs = sums;
    outputs.insert(outputs.end(), crossing.begin(), crossing.end());
    std::vector<bool> wanted(outputs.size(), true);
    std::fill_n(wanted.begin(), sums.size(), false);
    const Part part = batched_part(equations, outputs, size, &wanted);
    const std::int64_t count = axis_.size / size;

    PatternDriver inner(*part.program);
    Vars inputs(part.inputs.size(), -1), operands;
    Types types = part.program->input_types();
    std::size_t consts = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (held_[index(part.inputs[i])].batched) continue;
      inputs[i] = inner.builder().input(types[i]);
      operands.push_back(held_[index(part.inputs[i])].var);
      ++consts;
    }
    Vars accumulators;
    const Types results = part.program->output_types();
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const Type& type = results[k];
      const Type sum = is_low_precision(type.dtype) ? with_dtype(type, DType::float32) : type;
      accumulators.push_back(inner.builder().input(sum));
      const Var zero = builder_.constant(scalar_array(sum.dtype, 0));
      operands.push_back(builder_.emit1(core_ops().broadcast_in_dim,
                                        {{"shape", sum.shape}, {"broadcast_dimensions", Ints{}}},
                                        {zero}, location_));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const LoopValue& held = held_[index(part.inputs[i])];
      if (!held.batched) continue;
      inputs[i] = inner.builder().input(types[i]);
      Shape shape = types[i].shape;
      shape.insert(0, count);
      operands.push_back(reshaped(held.var, shape));
    }
    const Vars done = inner.walk(*part.program, inputs);
    std::vector<Var> chunk;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const DType dtype = inner.builder().type(accumulators[k]).dtype;
      Var partial = done[k];
      const Equation* maker = inner.builder().definition(partial);
      const LocationPtr location = maker ? maker->location : location_;  // of the sum
      if (dtype != results[k].dtype)
        partial = inner.builder().emit1(core_ops().convert_element_type,
                                        {{"new_dtype", dtype}, {"weak_type", false}}, {partial},
                                        location_);
      chunk.push_back(
          inner.builder().emit1(core_ops().add, {}, {accumulators[k], partial}, location));
    }
    chunk.insert(chunk.end(), done.begin() + static_cast<std::ptrdiff_t>(sums.size()), done.end());
    const Vars out = builder_.emit(core_ops().scan,
                                   {{"jaxpr", ProgramPtr(inner.builder().finish(chunk))},
                                    {"length", count},
                                    {"reverse", false},
                                    {"num_consts", static_cast<std::int64_t>(consts)},
                                    {"num_carry", static_cast<std::int64_t>(sums.size())}},
                                   operands, location_);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      Var sum = out[k];
      if (builder_.type(sum).dtype != results[k].dtype)
        sum = builder_.emit1(core_ops().convert_element_type,
                             {{"new_dtype", results[k].dtype}, {"weak_type", false}}, {sum},
                             location_);
      hold(sums[k], sum, false);
    }
    for (std::size_t i = 0; i < crossing.size(); ++i) {
      Shape shape = body_->type(crossing[i]).shape;
      shape.insert(0, axis_.size);
      hold(crossing[i], reshaped(out[sums.size() + i], shape), true);
    }
  }

  Var reshaped(Var v, const Shape& shape) {
    return builder_.emit1(core_ops().reshape, ops::reshape_params(shape), {v}, location_);
  }

  PatternDriver& rewriter_;
  Builder& builder_;
  ProgramPtr body_;
  BatchAxis axis_;
  LocationPtr location_;
  std::vector<LoopValue> held_;  // by variable of the body
  std::vector<bool> varying_;
  std::vector<std::size_t> level_;
  std::vector<Level> levels_;
  std::vector<const Constant*> constants_;  // the rest, too, by variable of the body
  std::vector<bool> is_output_;
  std::vector<Equations> users_;
};

}  // namespace

std::pair<Vars, std::vector<bool>> stripmine_devices(PatternDriver& driver, const ProgramPtr& body,
                                                     const BatchAxis& axis, const Vars& inputs,
                                                     const std::vector<bool>& batched,
                                                     const LocationPtr& location) {
  return Segments(driver, body, axis, location).run(inputs, batched);
}

}  // namespace shardax
