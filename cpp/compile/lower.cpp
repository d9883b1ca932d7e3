// compile/lower.cpp - windows, steps and the memory plan.
#include "compile/lower.h"

#include <algorithm>
#include <unordered_set>

#include "base/errors.h"
#include "base/lists.h"
#include "compile/arena.h"
#include "compile/overwriting.h"
#include "compile/row_blocks.h"
#include "compile/steps.h"
#include "compile/uses.h"
#include "ir/bodies.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

ControlLowering control_lowering = nullptr;

class Lowering {
 public:
  Lowering(const ProgramPtr& program, const std::vector<FusedUnit>& units,
           const CompileOptions& options)
      : program_(*program),
        units_(units),
        options_(options),
        plan_(new Plan),
        windows_(program->types.size()),
        seen_(program->types.size(), nullptr),
        stored_(stored_variables(*program, units)),
        last_unit_(last_uses(*program, units)),
        results_(program->outputs.begin(), program->outputs.end()) {
    for (auto e = program->equations.rbegin(); e != program->equations.rend(); ++e)
      if (e->op->view && is_result(e->outputs[0])) results_.insert(e->inputs[0]);
  }

  PlanPtr run(const Types& results, Placement* placement) {
    place_inputs();
    for (const FusedUnit& unit : units_) {
      runtime::poll_caller();
      ++unit_;
      if (unit.loop) {
        loop(unit);
      } else if (unit.rows) {
        rows(*unit.rows);
      } else {
        single(program_.equations[static_cast<std::size_t>(unit.equations[0])]);
      }
    }
    unit_ = static_cast<int>(units_.size());
    place_outputs(results);
    place_arena(*plan_, uses_);
    for (const auto& step : plan_->steps) plan_->cost += step->cost();
    if (placement) *placement = {std::move(variables_), std::move(uses_), std::move(step_units_)};
    return plan_;
  }

 private:
  using Windows = std::vector<std::unique_ptr<Window>>;
  const Type& type(Var v) const { return program_.type(v); }
  const Window& window(Var v) const { return *windows_[static_cast<std::size_t>(v)]; }

  int add_slot(Slot slot) {
    plan_->slots.push_back(slot);
    uses_.push_back({-1, -1});
    variables_.emplace_back();
    return static_cast<int>(plan_->slots.size()) - 1;
  }
  // New row-major memory; whether it is a buffer of its own is decided at the end.
  Window fresh(const Type& t) {
    return {add_slot({Slot::Kind::arena, 0, t.bytes(), 0}), 0, t, row_major_strides(t.shape)};
  }
  void set(Var v, Window w) {
    const auto at = static_cast<std::size_t>(v);
    variables_[static_cast<std::size_t>(w.slot)].push_back(v);
    windows_[at] = std::make_unique<Window>(std::move(w));
    seen_[at] = windows_[at].get();
  }

  void place_inputs() {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      const Type& t = type(program_.inputs[i]);
      Window w{add_slot({Slot::Kind::input, static_cast<int>(i), 0, 0}), 0, t,
               options_.input_strides[i]};
      plan_->inputs.push_back(w);
      set(program_.inputs[i], w);
    }
    for (const Constant& c : program_.constants) {
      const int slot =
          add_slot({Slot::Kind::constant, static_cast<int>(plan_->constants.size()), 0, 0});
      plan_->constants.push_back(c.value);
      set(c.var, {slot, 0, type(c.var), c.value->strides()});
    }
  }

  bool is_result(Var v) const { return results_.count(v) > 0; }
  bool is_carry(const Slot& slot) const {
    const auto input = static_cast<std::size_t>(slot.index);
    return slot.kind == Slot::Kind::input &&
           ((input >= options_.first_carry && input < options_.first_carry + options_.carry) ||
            has(options_.over, slot.index));
  }
  bool is_given(const Slot& slot) const {
    const auto input = static_cast<std::size_t>(slot.index);
    return slot.kind == Slot::Kind::input && input < options_.donated.size() &&
           options_.donated[input];
  }
  void overwrite(int slot) {
    const auto input = static_cast<std::size_t>(plan_->slots[static_cast<std::size_t>(slot)].index);
    auto& all = plan_->overwritten;
    if (std::find(all.begin(), all.end(), input) == all.end()) all.push_back(input);
  }
  // Does a unit after this one, or the result, need what lies in the slot?
  bool used_later(int slot) const {
    const Vars& in_slot = variables_[static_cast<std::size_t>(slot)];
    return std::any_of(in_slot.begin(), in_slot.end(),
                       [&](Var v) { return last_unit_[static_cast<std::size_t>(v)] > unit_; });
  }
  // All the memory of its slot, in order?
  bool covers_slot(const Window& w) const {
    const Slot& slot = plan_->slots[static_cast<std::size_t>(w.slot)];
    const std::int64_t bytes =
        slot.kind == Slot::Kind::input
            ? type(program_.inputs[static_cast<std::size_t>(slot.index)]).bytes()
            : slot.bytes;
    return w.offset == 0 && w.type.bytes() == bytes && is_contiguous(w.type.shape, w.strides);
  }
  // May the equation write its result over its first operand? Then nothing else needs that memory,
  // now or later.
  bool overwrites(const Equation& eqn) const { return eqn.op->in_place && is_free(eqn, 0); }
  // The same for any operand.
  bool is_free(const Equation& eqn, std::size_t operand) const {
    const Window& w = window(eqn.inputs[operand]);
    const Slot& slot = plan_->slots[static_cast<std::size_t>(w.slot)];
    if (!(slot.kind == Slot::Kind::arena || is_carry(slot) || is_given(slot)) || !covers_slot(w))
      return false;
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      if (i != operand && window(eqn.inputs[i]).slot == w.slot) return false;
    }
    return !used_later(w.slot);
  }

  void use(const Window& w) {
    auto& [first, last] = uses_[static_cast<std::size_t>(w.slot)];
    const int now = static_cast<int>(plan_->steps.size());
    if (first < 0) first = now;
    last = now;
  }
  void add_step(std::unique_ptr<Step> step) {
    plan_->steps.push_back(std::move(step));
    step_units_.push_back(unit_);
  }

  // May equation `n` of a loop leave its result `v` in the memory of that slot? The loop goes from
  // tile to tile, and within one from equation to equation: what is there must be read in the same
  // order, by this equation or earlier ones, and by nothing afterwards.
  bool takes_over(const FusedUnit& unit, std::size_t n, Var v, int slot) const {
    if (used_later(slot)) return false;
    for (Var u : variables_[static_cast<std::size_t>(slot)]) {
      if (last_unit_[static_cast<std::size_t>(u)] < unit_) continue;  // not read here
      if (!covers_slot(window(u)) || !same_shape_and_dtype(type(u), type(v))) return false;
      for (std::size_t k = 0; k < unit.equations.size(); ++k) {
        // Reductions take what they read at the end of a tile.
        const Equation& eqn = program_.equations[static_cast<std::size_t>(unit.equations[k])];
        if (k <= n && eqn.op->kind != Kind::reduction) continue;
        if (std::find(eqn.inputs.begin(), eqn.inputs.end(), u) != eqn.inputs.end()) return false;
      }
    }
    return true;
  }
  // A donated input that the result `v` of the program can take over; -1: none.
  int given_memory(const FusedUnit& unit, std::size_t n, Var v) const {
    for (std::size_t i = 0; i < options_.donated.size(); ++i) {
      const int slot = static_cast<int>(i);
      if (is_given(plan_->slots[i]) && same_shape_and_dtype(type(program_.inputs[i]), type(v)) &&
          takes_over(unit, n, v, slot))
        return slot;
    }
    return -1;
  }
  // The memory of the input that the result `v` of the program replaces; -1: none.
  int replaced_memory(const FusedUnit& unit, std::size_t n, Var v) const {
    for (std::size_t k = 0; k < options_.over.size(); ++k) {
      const int slot = options_.over[k];
      if (slot >= 0 && program_.outputs[k] == v &&
          same_shape_and_dtype(type(program_.inputs[static_cast<std::size_t>(slot)]), type(v)) &&
          takes_over(unit, n, v, slot))
        return slot;
    }
    return -1;
  }
  // A temporary that is read here for the last time; -1: none.
  int dead_memory(const FusedUnit& unit, std::size_t n, Var v) const {
    for (std::size_t k = 0; k <= n; ++k) {
      for (Var u : program_.equations[static_cast<std::size_t>(unit.equations[k])].inputs) {
        if (!windows_[static_cast<std::size_t>(u)] || !same_shape_and_dtype(type(u), type(v)))
          continue;
        const int slot = window(u).slot;
        if (plan_->slots[static_cast<std::size_t>(slot)].kind == Slot::Kind::arena &&
            covers_slot(window(u)) && takes_over(unit, n, v, slot))
          return slot;
      }
    }
    return -1;
  }
  // Where a result of a loop is stored: in new memory, or that of a donated input or a temporary
  // which nothing else needs.
  Window result_memory(const FusedUnit& unit, std::size_t n, Var v) {
    const Equation& eqn = program_.equations[static_cast<std::size_t>(unit.equations[n])];
    if (eqn.op->kind == Kind::elementwise && type(v).shape == unit.shape) {
      const int replaced = unit.reduces ? -1 : replaced_memory(unit, n, v);
      const int given =
          replaced < 0 && is_result(v) && !unit.reduces ? given_memory(unit, n, v) : -1;
      if (given >= 0) overwrite(given);
      const int slot = replaced >= 0 ? replaced : given >= 0 ? given : dead_memory(unit, n, v);
      if (slot >= 0) return {slot, 0, type(v), row_major_strides(type(v).shape)};
    }
    return fresh(type(v));
  }

  void loop(const FusedUnit& unit) {
    for (std::size_t n = 0; n < unit.equations.size(); ++n) {
      const Equation& eqn = program_.equations[static_cast<std::size_t>(unit.equations[n])];
      for (Var v : eqn.inputs) {
        if (const Window* w = seen_[static_cast<std::size_t>(v)]) use(*w);
      }
      for (Var v : eqn.outputs) {
        if (!stored_[static_cast<std::size_t>(v)]) continue;
        set(v, result_memory(unit, n, v));
        use(window(v));
      }
    }
    add_step(lower_loop(program_, unit, seen_, *plan_));
  }

  // The same for a result that is made rows by rows, and is not among `others`; -1: none.
  Var given_rows(const RowGroup& group, Var v, const std::vector<Var>& others) const {
    for (std::size_t i = 0; is_result(v) && i < options_.donated.size(); ++i) {
      const Var u = program_.inputs[i];
      if (is_given(plan_->slots[i]) && same_shape_and_dtype(type(u), type(v)) &&
          variables_[i].size() == 1 && covers_slot(window(u)) && !used_later(static_cast<int>(i)) &&
          !has(others, u) && may_take_over(program_, group, v, u))
        return u;
    }
    return -1;
  }

  void rows(const RowGroup& group) {
    std::vector<Var> results, taken;
    for (int e : group.equations) {
      for (Var v : program_.equations[static_cast<std::size_t>(e)].inputs) {
        if (windows_[static_cast<std::size_t>(v)]) use(window(v));
      }
    }
    std::unordered_set<Var> needed;  // of views: what they show
    for (std::size_t i = group.equations.size(); i-- > 0;) {
      const Equation& eqn = program_.equations[static_cast<std::size_t>(group.equations[i])];
      const Var v = eqn.outputs[0];
      if (last_unit_[static_cast<std::size_t>(v)] > unit_) needed.insert(v);
      if (needed.count(v) == 0) continue;
      if (eqn.op->view) {
        needed.insert(eqn.inputs[0]);
        continue;
      }
      results.insert(results.begin(), v);
    }
    for (Var v : results) taken.push_back(given_rows(group, v, taken));
    std::vector<Window> to(results.size());
    const auto place = [&](std::size_t i, bool takes) {
      to[i] = takes ? window(taken[i]) : fresh(type(results[i]));
      to[i].type = type(results[i]);
      if (takes) overwrite(to[i].slot);
      use(to[i]);
      return to[i];
    };
    add_step(row_step(program_, group, windows_, results, taken, place));
    for (std::size_t i = 0; i < results.size(); ++i) set(results[i], to[i]);
    for (int e : group.equations) {
      const Equation& eqn = program_.equations[static_cast<std::size_t>(e)];
      if (eqn.op->view && needed.count(eqn.outputs[0]) > 0) view(eqn);
    }
  }

  Window dense(const Window& from) {
    if (is_contiguous(from.type.shape, from.strides)) return from;
    const Window to = fresh(from.type);
    use(from);
    use(to);
    add_step(copy_step(from, to));
    return to;
  }

  // May a loop read slices of it where they lie? They are large, and lie in runs.
  static bool is_read_in_slices(const Bodies& bodies, std::size_t operand, const Window& w) {
    constexpr std::int64_t least_elements = 1024, least_run = 16;
    const Port& port = bodies.operands[operand];
    const std::size_t last = w.type.rank() - 1;
    return bodies.runs == Runs::counted && port.flow == Flow::sliced && port.axis == 0 &&
           last > 0 && w.strides[last] == 1 && w.type.shape[last] >= least_run &&
           w.type.size() >= least_elements * w.type.shape[0];
  }

  // An op that carries programs; its large results may be written over operands.
  void control(const Equation& eqn) {
    constexpr std::int64_t least_bytes = 16 << 10;
    const Bodies bodies = eqn.op->bodies(eqn.params);
    std::vector<Window> in;
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      const Window& w = window(eqn.inputs[i]);
      in.push_back(is_read_in_slices(bodies, i, w) ? w : dense(w));
    }
    for (const Window& w : in) use(w);
    const auto is_large = [&](Var v) { return type(v).bytes() >= least_bytes; };
    std::vector<int> over(eqn.outputs.size(), -1);
    if (std::any_of(eqn.outputs.begin(), eqn.outputs.end(), is_large))
      over = overwritable_operands(eqn);
    for (std::size_t k = 0; k < over.size(); ++k) {
      if (over[k] < 0) continue;
      const auto operand = static_cast<std::size_t>(over[k]);
      if (!is_large(eqn.outputs[k]) || !is_free(eqn, operand) ||
          in[operand].slot != window(eqn.inputs[operand]).slot)
        over[k] = -1;
    }
    for (const Var v : eqn.outputs) set(v, fresh(type(v)));
    const auto place = [&](const std::vector<int>& taken) {
      std::vector<Window> out;
      for (std::size_t k = 0; k < taken.size(); ++k) {
        const Var v = eqn.outputs[k];
        if (taken[k] >= 0) {
          const Window& w = in[static_cast<std::size_t>(taken[k])];
          plan_->slots[static_cast<std::size_t>(window(v).slot)].bytes = 0;
          if (is_given(plan_->slots[static_cast<std::size_t>(w.slot)])) overwrite(w.slot);
          set(v, {w.slot, w.offset, type(v), w.strides});
        }
        out.push_back(window(v));
      }
      return out;
    };
    std::unique_ptr<Step> step = control_lowering(eqn, in, over, place);
    for (const Var v : eqn.outputs) use(window(v));
    add_step(std::move(step));
  }

  void single(const Equation& eqn) {
    if (eqn.op->view) return view(eqn);
    if (eqn.op->kind == Kind::control && eqn.op->bodies) return control(eqn);
    std::vector<Window> in, out;
    for (const Var v : eqn.inputs) in.push_back(window(v));
    for (const Window& w : in) use(w);
    const bool over = overwrites(eqn);
    if (over && is_given(plan_->slots[static_cast<std::size_t>(in[0].slot)])) overwrite(in[0].slot);
    for (Var v : eqn.outputs) {
      set(v, over ? in[0] : fresh(type(v)));
      out.push_back(window(v));
      use(out.back());
    }
    if (!eqn.op->kernel) {
      throw InternalError(concat("'", eqn.op->name,
                                 "' cannot be computed outside of its mapped axis, in\n",
                                 to_string(program_)));
    }
    Types in_types, out_types;
    for (const Window& w : in) in_types.push_back(w.type);
    for (const Window& w : out) out_types.push_back(w.type);
    add_step(kernel_step(eqn, eqn.op->kernel(in_types, out_types, eqn.params), in, out));
  }

  // The same memory with other strides, or a dense copy seen that way.
  void view(const Equation& eqn) {
    const Type& out = type(eqn.outputs[0]);
    Window source = window(eqn.inputs[0]);
    ViewLayout layout;
    const int from_width = itemsize(source.type.dtype), to_width = std::max(itemsize(out.dtype), 1);
    if (source.offset * from_width % to_width != 0) {
      // Wider elements would start between two of its own: they are moved to the start of memory.
      const Window moved = fresh(source.type);
      use(source);
      use(moved);
      add_step(copy_step(source, moved));
      source = moved;
    }
    if (!eqn.op->view(eqn.params, source.type, source.strides, out, layout)) {
      source = dense(source);
      layout = {};
      if (!eqn.op->view(eqn.params, source.type, source.strides, out, layout)) {
        throw InternalError(concat("'", eqn.op->name, "' has no view of dense memory"));
      }
    }
    Window w{source.slot, source.offset, out, layout.strides};
    // Offsets count elements; an op that changes the width of elements starts where its input does.
    w.offset = source.offset * from_width / to_width + layout.offset;
    set(eqn.outputs[0], w);
  }

  bool whole(const Window& w) const {
    return plan_->slots[static_cast<std::size_t>(w.slot)].kind == Slot::Kind::arena &&
           covers_slot(w);
  }
  // Does result `i` lie where the carry that it replaces was?
  bool replaces_carry(std::size_t i, const Window& w) const {
    const Slot& slot = plan_->slots[static_cast<std::size_t>(w.slot)];
    const bool own = i < options_.carry
                         ? static_cast<std::size_t>(slot.index) == options_.first_carry + i
                         : i < options_.over.size() && options_.over[i] == slot.index;
    return is_carry(slot) && own && covers_slot(w);
  }

  void claim_output(int slot, std::int64_t bytes) {
    Slot& s = plan_->slots[static_cast<std::size_t>(slot)];
    s.kind = Slot::Kind::output;
    s.index = static_cast<int>(plan_->output_bytes.size());
    plan_->output_bytes.push_back(bytes);
  }

  // Rewriting may have replaced a result by a value that differs in being weak.
  void place_outputs(const Types& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      Window w = window(program_.outputs[i]);
      w.type.weak = results[i].weak;
      plan_->in_place.push_back(replaces_carry(i, w));
      if (plan_->in_place.back()) {
        plan_->output_bytes.push_back(0);
        plan_->outputs.push_back(w);
        continue;
      }
      if (options_.dense_outputs && !whole(w)) {
        const Window to = fresh(w.type);
        use(w);
        use(to);
        add_step(copy_step(w, to));
        w = to;
      }
      const Slot& slot = plan_->slots[static_cast<std::size_t>(w.slot)];
      if (slot.kind == Slot::Kind::arena) claim_output(w.slot, slot.bytes);
      plan_->outputs.push_back(w);
    }
  }

  const Program& program_;
  const std::vector<FusedUnit>& units_;
  const CompileOptions& options_;
  Shared<Plan> plan_;
  Windows windows_;
  std::vector<const Window*> seen_;        // the same
  std::vector<bool> stored_;               // per variable
  std::vector<int> last_unit_;             // per variable
  std::unordered_set<Var> results_;        // of the program, and what views among them show
  int unit_ = -1;                          // the one being lowered
  std::vector<std::pair<int, int>> uses_;  // per slot: first and last step
  std::vector<Vars> variables_;            // per slot: those that lie in it
  std::vector<int> step_units_;
};

}  // namespace

void set_control_lowering(ControlLowering lowering) { control_lowering = lowering; }

PlanPtr lower(const ProgramPtr& program, const std::vector<FusedUnit>& units,
              const CompileOptions& options, const Types& results, Placement* placement) {
  return Lowering(program, units, options).run(results, placement);
}

}  // namespace shardax
