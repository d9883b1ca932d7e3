// compile/lower/lower.cpp - units become steps.
#include "compile/lower/lower.h"

#include <algorithm>
#include <unordered_set>

#include "base/errors.h"
#include "base/index.h"
#include "compile/fusion/overlap_messages.h"
#include "compile/fusion/tiled_step.h"
#include "compile/lower/arena.h"
#include "compile/lower/branch_aliasing.h"
#include "compile/lower/buffer_assignment.h"
#include "compile/lower/elide_concat.h"
#include "compile/lower/steps.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/regions.h"
#include "runtime/interrupt.h"
#include "trace/trace.h"

namespace shardax {
namespace {

class Lowering : private BufferAssignment {
 public:
  Lowering(const ProgramPtr& program, const std::vector<FusionGroup>& units,
           const CompileOptions& options)
      : BufferAssignment(program, units, options),
        uses_of_(count_uses(*program)),
        parts_(elided_concats(*program, units, uses_of_)) {}

  PlanPtr run(const Types& results, AssignedBuffers* placement) {
    place_inputs();
    for (const FusionGroup& unit : units_) {
      runtime::poll_caller();
      ++unit_;
      location_ = location_of(unit);
      end_messages(unit_);
      if (unit.loop && windows_[index(result_of(unit))]) continue;  // is added
      if (gives_nothing(unit)) {
        place_nothing(unit);
      } else if (unit.loop) {
        loop(unit);
      } else if (unit.rows) {
        rows(*unit.rows);
      } else {
        single(program_.equations[index(unit.equations[0])]);
      }
    }
    unit_ = static_cast<int>(units_.size());
    end_messages(unit_);
    place_outputs(results);
    place_arena(*plan_, uses_);
    for (const auto& step : plan_->steps) {
      plan_->cost += step->cost();
      plan_->handed_out += step->handed_out();
    }
    if (placement) *placement = {std::move(variables_), std::move(uses_), std::move(step_units_)};
    return plan_;
  }

 private:
  // The location of the last equation that has one.
  LocationPtr location_of(const FusionGroup& unit) const {
    for (std::size_t n = unit.equations.size(); n-- > 0;) {
      const LocationPtr& own = program_.equations[index(unit.equations[n])].location;
      if (own && own->line > 0) return own;
    }
    return nullptr;
  }

  // A unit whose results have no elements is no step: no kernel meets results without elements.
  bool gives_nothing(const FusionGroup& unit) const {
    return std::all_of(unit.equations.begin(), unit.equations.end(), [&](int e) {
      const Equation& eqn = program_.equations[index(e)];
      return !eqn.outputs.empty() && !has_effects(eqn) &&
             std::all_of(eqn.outputs.begin(), eqn.outputs.end(),
                         [&](Var v) { return type(v).size() == 0; });
    });
  }
  void place_nothing(const FusionGroup& unit) {
    for (const int e : unit.equations) {
      for (const Var v : program_.equations[index(e)].outputs) set(v, fresh(type(v)));
    }
  }

  void loop(const FusionGroup& unit) {
    for (std::size_t n = 0; n < unit.equations.size(); ++n) {
      const Equation& eqn = program_.equations[index(unit.equations[n])];
      for (Var v : eqn.inputs) {
        if (const Window* w = seen_[index(v)]) use(*w);
      }
      for (Var v : eqn.outputs) {
        if (!stored_[index(v)]) continue;
        set(v, parts_.contains(v) ? place_in_whole(v) : result_memory(unit, n, v));
        use(window(v));
      }
    }
    add_step(lower_loop(program_, unit, seen_, *plan_, options_.dense_outputs));
  }

  void rows(const TileGroup& group) {
    std::vector<Var> results, taken;
    for (int e : group.equations) {
      for (Var v : program_.equations[index(e)].inputs) {
        if (windows_[index(v)]) use(window(v));
      }
    }
    std::unordered_set<Var> needed;  // of views: the values that they show
    for (std::size_t i = group.equations.size(); i-- > 0;) {
      const Equation& eqn = program_.equations[index(group.equations[i])];
      const Var v = eqn.outputs[0];
      if (last_unit_[index(v)] > unit_) needed.insert(v);
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
      const Equation& eqn = program_.equations[index(e)];
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
  static bool is_read_in_slices(const Regions& regions, std::size_t operand, const Window& w) {
    const RegionPort& port = regions.operands[operand];
    const std::size_t last = w.type.rank() - 1;
    return regions.runs == ExecutionKind::counted && port.flow == PortKind::sliced &&
           port.axis == 0 && last > 0 && w.strides[last] == 1 &&
           w.type.shape[last] >= tuning::lower::least_run &&
           w.type.size() >= tuning::lower::least_elements * w.type.shape[0];
  }

  // An op that carries programs; its large results may be written over operands.
  void control(const Equation& eqn) {
    const Regions regions = eqn.op->regions(eqn.params);
    std::vector<Window> in;
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      const Window& w = window(eqn.inputs[i]);
      in.push_back(is_read_in_slices(regions, i, w) ? w : dense(w));
    }
    for (const Window& w : in) use(w);
    const auto is_large = [&](Var v) { return type(v).bytes() >= tuning::lower::least_bytes; };
    std::vector<int> over(eqn.outputs.size(), -1);
    if (std::any_of(eqn.outputs.begin(), eqn.outputs.end(), is_large))
      over = overwritable_operands(eqn);
    for (std::size_t k = 0; k < over.size(); ++k) {
      if (over[k] < 0) continue;
      const auto operand = index(over[k]);
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
          const Window& w = in[index(taken[k])];
          plan_->slots[index(window(v).slot)].bytes = 0;
          if (is_given(plan_->slots[index(w.slot)])) overwrite(w.slot);
          set(v, {w.slot, w.offset, type(v), w.strides});
        }
        out.push_back(window(v));
      }
      return out;
    };
    std::vector<ArrayPtr> scalars;
    for (const Window& w : in) scalars.push_back(known_scalar(*plan_, w));
    std::unique_ptr<Step> step = lower_control(eqn, in, scalars, over, place);
    for (const Var v : eqn.outputs) use(window(v));
    add_step(std::move(step));
  }

  Var result_of(const FusionGroup& unit) const {
    return program_.equations[index(unit.equations.back())].outputs[0];
  }

  // Adds a product to a value without other uses, in its memory; false: it can't be done.
  bool add_product(const Equation& eqn, const std::vector<Window>& in) {
    if (eqn.op != &core_ops().dot_general) return false;
    const Var v = eqn.outputs[0];
    const int user = last_unit_[index(v)];
    if (uses_of_[index(v)] != 1 || user <= unit_ || user >= static_cast<int>(units_.size()))
      return false;
    const FusionGroup& unit = units_[index(user)];
    const Equation& add = program_.equations[index(unit.equations[0])];
    if (!unit.loop || unit.equations.size() != 1 || !is_add(*add.op)) return false;
    const Var to = add.inputs[add.inputs[0] == v ? 1 : 0];
    if (!windows_[index(to)] || uses_of_[index(to)] != 1 ||
        !same_shape_and_dtype(type(to), type(v)) || parts_.contains(add.outputs[0]))
      return false;
    const Window sum = window(to);
    if (!is_ours(sum) || is_under_way(sum.slot)) return false;
    for (const Var other : variables_[index(sum.slot)]) {
      if (other != to && last_unit_[index(other)] >= unit_) return false;
    }
    std::unique_ptr<Step> step = adding_step(eqn, in, sum);
    if (!step) return false;
    if (is_given(plan_->slots[index(sum.slot)])) overwrite(sum.slot);
    set(add.outputs[0], {sum.slot, sum.offset, type(add.outputs[0]), sum.strides});
    for (const Window& w : in) use(w);
    use(sum);
    add_step(std::move(step));
    return true;
  }

  // The place of a part in memory for the whole, which is there from now on.
  Window place_in_whole(Var v) {
    const Equation& eqn = program_.equations[index(parts_.at(v))];
    const auto [whole, added] = wholes_.try_emplace(eqn.outputs[0]);
    if (added) whole->second = fresh(type(eqn.outputs[0]));
    const auto at = std::find(eqn.inputs.begin(), eqn.inputs.end(), v) - eqn.inputs.begin();
    return part_windows(program_, eqn, whole->second)[index(at)];
  }

  // A message that is under way, and the memory that it reads and writes.
  struct Begun {
    int end;
    const Step* step;
    std::vector<Window> windows;
  };

  void message(const Equation& eqn) {
    std::vector<Window> in, out;
    Types in_types, out_types;
    for (const Var v : eqn.inputs) {
      in.push_back(window(v));
      in_types.push_back(in.back().type);
    }
    for (const Var v : eqn.outputs) {
      set(v, fresh(type(v)));
      out.push_back(window(v));
      out_types.push_back(type(v));
    }
    std::vector<Window> windows = in;
    windows.insert(windows.end(), out.begin(), out.end());
    for (const Window& w : windows) use(w);
    const LocationScope at(eqn.location);  // for the message's label
    const auto end = static_cast<int>(end_of_message(program_, units_, index(unit_)));
    const bool ends_later = end > unit_ + 1;
    add_step(message_step(eqn, eqn.op->message(*eqn.op, in_types, out_types, eqn.params), in, out,
                          ends_later));
    if (!ends_later) return;
    plan_->sends = true;
    // Until its end nothing else is written over its operands.
    for (const Var v : eqn.inputs) last_unit_[index(v)] = std::max(last_unit_[index(v)], end);
    begun_.push_back({end, plan_->steps.back().get(), std::move(windows)});
  }

  // Ends the messages whose results the unit reads.
  void end_messages(int unit) {
    std::erase_if(begun_, [&](const Begun& message) {
      if (message.end > unit) return false;
      for (const Window& w : message.windows) use(w);
      add_step(end_step(*message.step));
      plan_->steps.back()->location = message.step->location;
      return true;
    });
  }
  bool is_under_way(int slot) const {
    return std::ranges::any_of(begun_, [&](const Begun& message) {
      return std::ranges::any_of(message.windows, [&](const Window& w) { return w.slot == slot; });
    });
  }

  // Copies the parts that are not in the whole yet.
  void together(const Equation& eqn, const Window& whole) {
    const std::vector<Window> parts = part_windows(program_, eqn, whole);
    std::vector<std::pair<Window, Window>> copies;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!parts_.contains(eqn.inputs[i])) copies.emplace_back(window(eqn.inputs[i]), parts[i]);
    }
    if (eqn.op == &core_ops().pad) {
      for (const Window& to : filled_windows(eqn, whole)) {
        Window from = window(eqn.inputs[1]);
        from.type.shape = to.type.shape;
        from.strides.assign(to.strides.size(), 0);
        copies.emplace_back(from, to);
      }
    }
    set(eqn.outputs[0], whole);
    for (const auto& [from, to] : copies) {
      use(from);
      use(to);
      add_step(copy_step(from, to));
    }
  }

  void single(const Equation& eqn) {
    if (eqn.op->view) return view(eqn);
    const auto whole = eqn.outputs.empty() ? wholes_.end() : wholes_.find(eqn.outputs[0]);
    if (whole != wholes_.end()) return together(eqn, whole->second);
    if (eqn.op->kind == Kind::control && eqn.op->regions) return control(eqn);
    if (eqn.op->message) return message(eqn);
    std::vector<Window> in, out;
    for (const Var v : eqn.inputs) in.push_back(window(v));
    if (add_product(eqn, in)) return;
    for (const Window& w : in) use(w);
    const bool over = overwrites(eqn);
    if (over && is_given(plan_->slots[index(in[0].slot)])) overwrite(in[0].slot);
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

  // Rewriting may have replaced a result by a value that differs in being weak.
  void place_outputs(const Types& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      Window w = window(program_.outputs[i]);
      w.type.weak = results[i].weak;
      plan_->in_place.push_back(replaces_carry(i, w));
      const bool stacked = i < plan_->stacked.size() && plan_->stacked[i] >= 0;
      if (plan_->in_place.back() || stacked) {
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
      const Slot& slot = plan_->slots[index(w.slot)];
      if (slot.kind == Slot::Kind::arena) claim_output(w.slot, slot.bytes);
      plan_->outputs.push_back(w);
    }
  }

  std::vector<int> uses_of_;                // per variable
  std::unordered_map<Var, int> parts_;      // results of loops: the step that joins them
  std::unordered_map<Var, Window> wholes_;  // of which some part is there
  std::vector<Begun> begun_;                // messages under way
};

}  // namespace

PlanPtr lower(const ProgramPtr& program, const std::vector<FusionGroup>& units,
              const CompileOptions& options, const Types& results, AssignedBuffers* placement) {
  return Lowering(program, units, options).run(results, placement);
}

}  // namespace shardax
