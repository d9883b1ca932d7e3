// compile/lower/buffer_assignment.cpp - slots of a plan, and reuse of memory after a last use.
#include "compile/lower/buffer_assignment.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "compile/fusion/tiled_step.h"
#include "compile/lower/liveness.h"

namespace shardax {

BufferAssignment::BufferAssignment(const ProgramPtr& program, const std::vector<FusionGroup>& units,
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
  for (std::size_t k = 0; k < options.carry; ++k) plan_->stacked.push_back(stacked_as(k));
  for (auto e = program->equations.rbegin(); e != program->equations.rend(); ++e)
    if (e->op->view && is_result(e->outputs[0])) results_.insert(e->inputs[0]);
}

int BufferAssignment::add_slot(Slot slot) {
  plan_->slots.push_back(slot);
  uses_.push_back({-1, -1});
  variables_.emplace_back();
  return static_cast<int>(plan_->slots.size()) - 1;
}

Window BufferAssignment::fresh(const Type& t) {
  return {add_slot({Slot::Kind::arena, 0, t.bytes(), 0}), 0, t, row_major_strides(t.shape)};
}

void BufferAssignment::set(Var v, Window w) {
  const auto at = index(v);
  variables_[index(w.slot)].push_back(v);
  windows_[at] = std::make_unique<Window>(std::move(w));
  seen_[at] = windows_[at].get();
}

void BufferAssignment::place_inputs() {
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

bool BufferAssignment::is_result(Var v) const { return results_.count(v) > 0; }

int BufferAssignment::stacked_as(std::size_t k) const {
  const std::vector<Var>& results = program_.outputs;
  if (has(program_.inputs, results[k])) return -1;
  const auto others = results.begin() + static_cast<std::ptrdiff_t>(options_.carry);
  const auto at = std::find(others, results.end(), results[k]);
  return at == results.end() ? -1 : static_cast<int>(at - results.begin());
}

bool BufferAssignment::is_carry(const Slot& slot) const {
  if (slot.kind != Slot::Kind::input) return false;
  const std::size_t k = index(slot.index) - options_.first_carry;
  return (k < options_.carry && plan_->stacked[k] < 0) || has(options_.over, slot.index);
}

bool BufferAssignment::is_given(const Slot& slot) const {
  const auto input = index(slot.index);
  return slot.kind == Slot::Kind::input && input < options_.donated.size() &&
         options_.donated[input];
}

void BufferAssignment::overwrite(int slot) {
  const auto input = index(plan_->slots[index(slot)].index);
  auto& all = plan_->overwritten;
  if (std::find(all.begin(), all.end(), input) == all.end()) all.push_back(input);
}

bool BufferAssignment::used_later(int slot) const {
  const Vars& in_slot = variables_[index(slot)];
  return std::any_of(in_slot.begin(), in_slot.end(),
                     [&](Var v) { return last_unit_[index(v)] > unit_; });
}

bool BufferAssignment::covers_slot(const Window& w) const {
  const Slot& slot = plan_->slots[index(w.slot)];
  const std::int64_t bytes = slot.kind == Slot::Kind::input
                                 ? type(program_.inputs[index(slot.index)]).bytes()
                                 : slot.bytes;
  return w.offset == 0 && w.type.bytes() == bytes && is_contiguous(w.type.shape, w.strides);
}

bool BufferAssignment::is_ours(const Window& w) const {
  const Slot& slot = plan_->slots[index(w.slot)];
  return (slot.kind == Slot::Kind::arena || is_carry(slot) || is_given(slot)) && covers_slot(w);
}

bool BufferAssignment::overwrites(const Equation& eqn) const {
  return eqn.op->in_place && is_free(eqn, 0);
}

bool BufferAssignment::is_free(const Equation& eqn, std::size_t operand) const {
  const Window& w = window(eqn.inputs[operand]);
  if (!is_ours(w)) return false;
  for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
    if (i != operand && window(eqn.inputs[i]).slot == w.slot) return false;
  }
  return !used_later(w.slot);
}

void BufferAssignment::use(const Window& w) {
  auto& [first, last] = uses_[index(w.slot)];
  const int now = static_cast<int>(plan_->steps.size());
  if (first < 0) first = now;
  last = now;
}

void BufferAssignment::add_step(std::unique_ptr<Step> step) {
  step->location = location_;
  plan_->steps.push_back(std::move(step));
  step_units_.push_back(unit_);
}

bool BufferAssignment::takes_over(const FusionGroup& unit, std::size_t n, Var v, int slot) const {
  if (used_later(slot)) return false;
  for (Var u : variables_[index(slot)]) {
    if (last_unit_[index(u)] < unit_) continue;  // not read here
    if (!covers_slot(window(u)) || !same_shape_and_dtype(type(u), type(v))) return false;
    for (std::size_t k = 0; k < unit.equations.size(); ++k) {
      // Reductions read their operands at the end of a tile.
      const Equation& eqn = program_.equations[index(unit.equations[k])];
      if (k <= n && eqn.op->kind != Kind::reduction) continue;
      if (std::find(eqn.inputs.begin(), eqn.inputs.end(), u) != eqn.inputs.end()) return false;
    }
  }
  return true;
}

int BufferAssignment::given_memory(const FusionGroup& unit, std::size_t n, Var v) const {
  for (std::size_t i = 0; i < options_.donated.size(); ++i) {
    const int slot = static_cast<int>(i);
    if (is_given(plan_->slots[i]) && same_shape_and_dtype(type(program_.inputs[i]), type(v)) &&
        takes_over(unit, n, v, slot))
      return slot;
  }
  return -1;
}

int BufferAssignment::replaced_memory(const FusionGroup& unit, std::size_t n, Var v) const {
  for (std::size_t k = 0; k < options_.over.size(); ++k) {
    const int slot = options_.over[k];
    if (slot >= 0 && program_.outputs[k] == v &&
        same_shape_and_dtype(type(program_.inputs[index(slot)]), type(v)) &&
        takes_over(unit, n, v, slot))
      return slot;
  }
  return -1;
}

int BufferAssignment::dead_memory(const FusionGroup& unit, std::size_t n, Var v) const {
  for (std::size_t k = 0; k <= n; ++k) {
    for (Var u : program_.equations[index(unit.equations[k])].inputs) {
      if (!windows_[index(u)] || !same_shape_and_dtype(type(u), type(v))) continue;
      const int slot = window(u).slot;
      if (plan_->slots[index(slot)].kind == Slot::Kind::arena && covers_slot(window(u)) &&
          takes_over(unit, n, v, slot))
        return slot;
    }
  }
  return -1;
}

Window BufferAssignment::result_memory(const FusionGroup& unit, std::size_t n, Var v) {
  const Equation& eqn = program_.equations[index(unit.equations[n])];
  if (eqn.op->kind == Kind::elementwise && type(v).shape == unit.shape) {
    const int replaced = unit.reduces ? -1 : replaced_memory(unit, n, v);
    const int given = replaced < 0 && is_result(v) && !unit.reduces ? given_memory(unit, n, v) : -1;
    if (given >= 0) overwrite(given);
    const int slot = replaced >= 0 ? replaced : given >= 0 ? given : dead_memory(unit, n, v);
    if (slot >= 0) return {slot, 0, type(v), row_major_strides(type(v).shape)};
  }
  return fresh(type(v));
}

Var BufferAssignment::given_rows(const TileGroup& group, Var v,
                                 const std::vector<Var>& others) const {
  for (std::size_t i = 0; is_result(v) && i < options_.donated.size(); ++i) {
    const Var u = program_.inputs[i];
    if (is_given(plan_->slots[i]) && same_shape_and_dtype(type(u), type(v)) &&
        variables_[i].size() == 1 && covers_slot(window(u)) && !used_later(static_cast<int>(i)) &&
        !has(others, u) && may_take_over(program_, group, v, u))
      return u;
  }
  return -1;
}

bool BufferAssignment::whole(const Window& w) const {
  return plan_->slots[index(w.slot)].kind == Slot::Kind::arena && covers_slot(w);
}

bool BufferAssignment::replaces_carry(std::size_t i, const Window& w) const {
  const Slot& slot = plan_->slots[index(w.slot)];
  const bool own = i < options_.carry ? index(slot.index) == options_.first_carry + i
                                      : i < options_.over.size() && options_.over[i] == slot.index;
  return is_carry(slot) && own && covers_slot(w);
}

void BufferAssignment::claim_output(int slot, std::int64_t bytes) {
  Slot& s = plan_->slots[index(slot)];
  s.kind = Slot::Kind::output;
  s.index = static_cast<int>(plan_->output_bytes.size());
  plan_->output_bytes.push_back(bytes);
}

}  // namespace shardax
