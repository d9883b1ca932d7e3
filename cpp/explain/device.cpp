// explain/device.cpp - mapped functions in place of their calls, simplified, in units.
#include "explain/device.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "analysis/cost.h"
#include "base/index.h"
#include "compile/fusion/fuse.h"
#include "compile/lower/liveness.h"
#include "compile/passes.h"
#include "compile/simplify/pattern_driver.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"

namespace shardax {
namespace {

// A value outside of a mapped function, and the part of it that a device has within.
struct Held {
  Var var = -1;  // -1: not asked for yet
  Var block = -1;
};

class Inliner {
 public:
  explicit Inliner(const Program& source) : builder_(source) {}

  ProgramPtr run(const Program& program) {
    std::vector<Held> in(program.inputs.size());
    std::vector<Var> outputs;
    for (const Held& out : walk(program, in)) {
      const Var v = out.var >= 0 ? out.var : out.block;
      if (v >= 0) outputs.push_back(v);
    }
    return builder_.finish(outputs);
  }

 private:
  Var whole(Held& held, const Type& type) {
    if (held.var < 0) held.var = builder_.input(type);
    return held.var;
  }
  Var block(Held& held, const Type& type) {
    if (held.block >= 0 && same_shape_and_dtype(builder_.type(held.block), type)) return held.block;
    return held.block = builder_.input(type);
  }

  std::vector<Held> walk(const Program& program, std::vector<Held>& inputs) {
    check_stack("a program within programs");
    std::vector<Held> env(program.types.size());
    const auto at = [&](Var v) -> Held& { return env[index(v)]; };
    for (std::size_t i = 0; i < inputs.size(); ++i) at(program.inputs[i]) = inputs[i];
    for (const Constant& c : program.constants) at(c.var).var = builder_.constant(c.value);
    for (const Equation& eqn : program.equations) {
      std::vector<Held> out;
      const ExecutionKind runs =
          eqn.op->regions ? eqn.op->regions(eqn.params).runs : ExecutionKind::counted;
      if (runs == ExecutionKind::once || runs == ExecutionKind::mapped ||
          runs == ExecutionKind::mesh) {
        out = call(program, eqn, at);
      } else {
        Vars in;
        for (Var v : eqn.inputs) in.push_back(whole(at(v), program.type(v)));
        for (Var v : builder_.emit(*eqn.op, eqn.params, in, eqn.location)) out.push_back({v, -1});
      }
      for (std::size_t i = 0; i < out.size(); ++i) at(eqn.outputs[i]) = out[i];
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = at(program.inputs[i]);
    std::vector<Held> outputs;
    for (Var v : program.outputs) {
      if (at(v).var < 0 && at(v).block < 0) whole(at(v), program.type(v));
      outputs.push_back(at(v));
    }
    return outputs;
  }

  template <class At>
  std::vector<Held> call(const Program& outer, const Equation& eqn, At&& at) {
    const Regions regions = eqn.op->regions(eqn.params);
    const Program& body = *regions.programs[0];
    const bool maps = regions.runs != ExecutionKind::once;
    std::vector<Held> in;
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      Held& held = at(eqn.inputs[i]);
      const Type& type = body.type(body.inputs[i]);
      const bool same = same_shape_and_dtype(outer.type(eqn.inputs[i]), type);
      if (!maps || same) {
        in.push_back(held);
      } else {
        in.push_back({block(held, type), -1});
      }
    }
    std::vector<Held> out = walk(body, in);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const bool same = same_shape_and_dtype(outer.type(eqn.inputs[i]), body.type(body.inputs[i]));
      if (!maps || same) at(eqn.inputs[i]) = in[i];
    }
    for (std::size_t i = 0; i < out.size() && maps; ++i) {
      const bool same =
          same_shape_and_dtype(outer.type(eqn.outputs[i]), body.type(body.outputs[i]));
      if (!same) out[i] = {-1, out[i].var >= 0 ? out[i].var : out[i].block};
    }
    return out;
  }

  Builder builder_;
};

bool maps_within(const Equation& eqn) {
  if (!eqn.op->regions) return false;
  const ExecutionKind runs = eqn.op->regions(eqn.params).runs;
  return runs == ExecutionKind::mapped || runs == ExecutionKind::mesh;
}

ProgramPtr simplified(ProgramPtr program) {
  const bool maps = std::any_of(program->equations.begin(), program->equations.end(),
                                [](const Equation& e) { return any_equation(e, maps_within); });
  program = eliminate_dead_code(program);
  constexpr int rounds = 3;  // as many as settle the programs of the tests
  for (int i = 0; i < rounds && !maps; ++i) program = eliminate_dead_code(simplify(program));
  return program;
}

bool communicates(const Equation& eqn) {
  return eqn.op->kind == Kind::collective && !ops::stays_local(*eqn.op);
}

class Units {
 public:
  Units(const TaggedProgram& tagged, ProgramPtr program)
      : tagged_(tagged),
        program_(std::move(program)),
        fused_(fuse(*program_)),
        maker_(program_->types.size(), -1),
        stored_(stored_variables(*program_, fused_)) {}

  DeviceProgram run() {
    for (std::size_t u = 0; u < fused_.size(); ++u) {
      for (int e : fused_[u].equations) {
        for (Var v : equation(e).outputs) maker_[index(v)] = static_cast<int>(u);
      }
    }
    DeviceProgram out;
    for (std::size_t u = 0; u < fused_.size(); ++u) out.units.push_back(unit(static_cast<int>(u)));
    for (const Type& type : program_->input_types()) out.arguments += type.bytes();
    std::set<Var> results(program_->outputs.begin(), program_->outputs.end());
    for (Var v : results) out.results += maker_[index(v)] >= 0 ? program_->type(v).bytes() : 0;
    out.temporaries = most_at_once(results, out.units);
    return out;
  }

 private:
  const Equation& equation(int e) const { return program_->equations[index(e)]; }
  static bool is_view(const Equation& eqn) { return eqn.op->view != nullptr; }

  DeviceUnit unit(int u) const {
    DeviceUnit out;
    std::set<int> sources, needs;
    std::set<Var> read;
    for (int e : fused_[index(u)].equations) {
      const Equation& eqn = equation(e);
      if (const int source = tagged_.source_of(eqn); source >= 0) {
        sources.insert(source);
        for (const AxisSet& axes : tagged_.sources[index(source)].out)
          out.varying = join(out.varying, axes);
      }
      for (Var v : eqn.inputs) {
        if (maker_[index(v)] == u || !read.insert(v).second) continue;
        if (maker_[index(v)] >= 0) needs.insert(maker_[index(v)]);
        out.bytes += static_cast<double>(program_->type(v).bytes());
      }
      for (Var v : eqn.outputs) {
        if (stored_[index(v)]) out.bytes += static_cast<double>(program_->type(v).bytes());
      }
      if (eqn.op->regions) continue;
      const Cost cost = cost_of(*program_, eqn);
      out.flops += cost.flops;
      out.transcendentals += cost.transcendentals;
      out.product = out.product || eqn.op == &core_ops().dot_general ||
                    eqn.op == &core_ops().conv_general_dilated;
    }
    const Equation& head = equation(fused_[index(u)].equations[0]);
    if (is_view(head) || (head.op->kind == Kind::collective && !communicates(head))) out.bytes = 0;
    if (communicates(head)) message(head, out);
    if (head.op->regions) loop(head, out);
    out.sources.assign(sources.begin(), sources.end());
    out.needs.assign(needs.begin(), needs.end());
    return out;
  }

  void message(const Equation& eqn, DeviceUnit& out) const {
    out.kind = DeviceUnit::Kind::collective;
    out.op = eqn.op->name;
    out.flops = out.transcendentals = out.bytes = 0;
    out.axes = ops::collective_axes(eqn.params);
    const int source = tagged_.source_of(eqn);
    for (AxisName axis : out.axes) {
      if (source < 0) continue;
      for (const MappedAxis& known : tagged_.sources[index(source)].axes)
        out.group *= known.name == axis ? known.size : 1;
    }
    const ops::Groups groups = ops::groups_of(eqn.params);
    if (!groups.empty()) {
      out.group = 1;
      for (const Ints& group : groups)
        out.group = std::max(out.group, static_cast<std::int64_t>(group.size()));
    }
    for (Var v : eqn.inputs) out.operand += program_->type(v).bytes();
    for (Var v : eqn.outputs) out.result += program_->type(v).bytes();
    const auto* pairs = eqn.params.find("perm");
    if (!pairs || !std::holds_alternative<Ints>(*pairs)) return;
    const Ints& perm = std::get<Ints>(*pairs);
    for (std::size_t i = 0; i + 1 < perm.size(); i += 2) {
      const std::int64_t way = std::abs(perm[i + 1] - perm[i]);
      out.hops = std::max(out.hops, std::min(way, out.group - way));
    }
  }

  void loop(const Equation& eqn, DeviceUnit& out) const {
    out.kind = DeviceUnit::Kind::loop;
    out.bytes = 0;
    const Regions regions = eqn.op->regions(eqn.params);
    if (regions.runs == ExecutionKind::counted) out.times = static_cast<double>(regions.length);
    double most = -1;
    for (const ProgramPtr& body : regions.programs) {
      DeviceProgram inner = device_program(tagged_, *body);
      std::vector<DeviceUnit>& units = inner.units;
      out.workspace = std::max(out.workspace, inner.temporaries + inner.results);
      double work = 0;
      for (const DeviceUnit& unit : units) work += unit.flops + unit.bytes;
      if (regions.runs != ExecutionKind::one_of) {
        // A loop's condition comes before its body; neither needs the other's results.
        const auto base = static_cast<int>(out.body.size());
        for (DeviceUnit& unit : units) {
          for (int& need : unit.needs) need += base;
          out.body.push_back(std::move(unit));
        }
      } else if (work > most) {
        most = work;
        out.body = std::move(units);
      }
    }
  }

  std::int64_t most_at_once(const std::set<Var>& results,
                            const std::vector<DeviceUnit>& units) const {
    std::vector<int> last(program_->types.size(), -1);
    for (std::size_t u = 0; u < fused_.size(); ++u) {
      for (int e : fused_[u].equations) {
        for (Var v : equation(e).inputs) last[index(v)] = static_cast<int>(u);
      }
    }
    std::vector<std::int64_t> change(fused_.size() + 1, 0);
    for (std::size_t u = 0; u < fused_.size(); ++u) {
      change[u] += units[u].workspace;
      change[u + 1] -= units[u].workspace;
      for (int e : fused_[u].equations) {
        const Equation& eqn = equation(e);
        if (is_view(eqn)) continue;
        for (Var v : eqn.outputs) {
          if (!stored_[index(v)] || results.count(v) || last[index(v)] < static_cast<int>(u))
            continue;
          change[u] += program_->type(v).bytes();
          change[index(last[index(v)] + 1)] -= program_->type(v).bytes();
        }
      }
    }
    std::int64_t now = 0, most = 0;
    for (const std::int64_t step : change) most = std::max(most, now += step);
    return most;
  }

  const TaggedProgram& tagged_;
  ProgramPtr program_;
  std::vector<FusionGroup> fused_;
  std::vector<int> maker_;    // per variable: the unit that makes it, or -1
  std::vector<bool> stored_;  // is it written to memory?
};

}  // namespace

DeviceProgram device_program(const TaggedProgram& tagged, const Program& program) {
  return Units(tagged, simplified(Inliner(program).run(program))).run();
}

}  // namespace shardax
