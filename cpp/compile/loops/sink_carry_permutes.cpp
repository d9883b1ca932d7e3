// compile/loops/sink_carry_permutes.cpp - permutes of carries sink into the next iteration.
//
// A pipeline over devices, or a ring, moves the result of each turn on to the next device:
//   c = zeros; c = scan { ... use(c) ...; move(v) }
//   ->   p = zeros; p = scan { ... use(move(p)) ...; v };  c = move(p)
// Here a move consists of slices, concatenations with zeros, transposes and selects with zeros, so
// zeros move to zeros. The turn leaves v where the next one reads it: where a result stacks v,
// nowhere else. Consumers of the moved value assemble it once
// (compile/simplify/fold_masked_select.cpp), or read parts of it.
#include "base/index.h"
#include "base/lists.h"
#include "compile/loops/counted_loop_view.h"
#include "compile/passes.h"
#include "compile/simplify/constants.h"
#include "compile/simplify/pattern_driver.h"
#include "compile/simplify/simplify_concat.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

bool moves(const Op& op) {
  static const std::vector<const Op*> ops{&core_ops().concatenate, &core_ops().reshape,
                                          &core_ops().slice, &core_ops().squeeze,
                                          &core_ops().transpose};
  return std::find(ops.begin(), ops.end(), &op) != ops.end();
}

// Equations that compute the value of a carry from another one.
struct Move {
  std::size_t carry = 0;     // its position among the carries
  Var source = -1;           // the value that is moved
  std::vector<int> numbers;  // of the equations that move it, ascending
  bool chooses = false;
};

class LateMoves : private CountedLoopView {
 public:
  using CountedLoopView::CountedLoopView;

  std::optional<Vars> run() {
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      if (std::optional<Move> found = find(n)) moves_.push_back(std::move(*found));
    }
    if (moves_.empty()) return {};
    Vars out = loop();
    for (const Move& move : moves_) {
      Var& last = out[results_[move.carry]];
      last = moved(move, last);
    }
    return out;
  }

 private:
  std::optional<Move> find(std::size_t n) const {
    const Var carry = body_.inputs[operands_[n]], made = body_.outputs[results_[n]];
    if (body_.type(carry).bytes() < tuning::sink_carry_permutes::least_moved_bytes ||
        !is_scalar_constant(builder_, in_[operands_[n]], 0))
      return {};
    Move move{n, -1, {}, false};
    if (!follow(made, move) || move.source < 0 || move.source == made) return {};
    std::sort(move.numbers.begin(), move.numbers.end());
    move.numbers.erase(std::unique(move.numbers.begin(), move.numbers.end()), move.numbers.end());
    const Equation* maker = definition(move.source);
    // A choice is one pass with elementwise work before it.
    if (!maker || (move.chooses && maker->op->kind == Kind::elementwise) ||
        body_.type(move.source).bytes() > body_.type(carry).bytes() || !is_alone(move, made))
      return {};
    return move;
  }

  // Notes the equations that make `v` of one source; false: it is made in another way.
  bool follow(Var v, Move& move) const {
    if (is_nothing(v)) {
      note(v, move);
      return true;
    }
    const Equation* e = definition(v);
    const bool choice = e && e->op == &core_ops().select_n && is_fixed(e->inputs[0]);
    if (!e || !(moves(*e->op) || choice)) {
      const bool first = move.source < 0;
      if (first) move.source = v;
      return first || move.source == v;
    }
    note(v, move);
    if (choice) {
      move.chooses = true;
      note_fixed(e->inputs[0], move);
    }
    return std::all_of(e->inputs.begin() + (choice ? 1 : 0), e->inputs.end(),
                       [&](Var in) { return follow(in, move); });
  }
  void note(Var v, Move& move) const {
    if (makers_[index(v)] >= 0) move.numbers.push_back(makers_[index(v)]);
  }

  bool is_nothing(Var v) const {
    if (is_zero(body_, v, makers_)) return true;
    for (const Equation* e = definition(v); e; e = definition(v)) {
      if (e->op != &core_ops().broadcast_in_dim) return false;
      v = e->inputs[0];
    }
    const std::optional<std::size_t> input = whole_input(v);
    return input && is_scalar_constant(builder_, in_[*input], 0);
  }
  // The input that is the same in each turn.
  std::optional<std::size_t> whole_input(Var v) const {
    const auto at = std::find(body_.inputs.begin(), body_.inputs.end(), v);
    const auto i = index(at - body_.inputs.begin());
    if (at == body_.inputs.end() || regions_.operands[i].flow != PortKind::whole) return {};
    return i;
  }
  // Is it a mask that is the same in each turn, of devices say?
  bool is_fixed(Var v) const {
    const Equation* e = definition(v);
    if (!e) return whole_input(v) || !has(body_.inputs, v);
    const bool follows = e->op->kind == Kind::elementwise ||
                         e->op == &core_ops().broadcast_in_dim || e->inputs.empty();
    return follows && e->op->effect.empty() &&
           std::all_of(e->inputs.begin(), e->inputs.end(), [&](Var in) { return is_fixed(in); });
  }
  void note_fixed(Var v, Move& move) const {
    note(v, move);
    if (const Equation* e = definition(v)) {
      for (const Var in : e->inputs) note_fixed(in, move);
    }
  }

  // Does nothing else use what lies between the source and the carry?
  bool is_alone(const Move& move, Var made) const {
    std::vector<int> within(body_.types.size(), 0);
    for (const int number : move.numbers) {
      for (const Var v : equation(number).inputs) ++within[index(v)];
    }
    ++within[index(made)];
    return std::all_of(move.numbers.begin(), move.numbers.end(), [&](int number) {
      const Var v = equation(number).outputs[0];
      return is_nothing(v) || is_fixed(v) || within[index(v)] == uses_[index(v)];
    });
  }
  const Equation& equation(int number) const { return body_.equations[index(number)]; }

  // The loop that carries the sources.
  Vars loop() {
    const MutableProgram made = copy_of(body_);
    std::vector<Equation> first;
    Regions regions = regions_;
    regions.operands.clear();
    made->inputs.clear();
    Vars operands;
    for (std::size_t i = 0; i < in_.size(); ++i) {
      if (is_made_within(i, *made, first)) continue;
      made->inputs.push_back(body_.inputs[i]);
      regions.operands.push_back(regions_.operands[i]);
      operands.push_back(in_[i]);
    }
    for (const Move& move : moves_) {
      const Type& type = body_.type(move.source);
      const Var carry = body_.inputs[operands_[move.carry]], before = made->add(type);
      const auto at = std::find(made->inputs.begin(), made->inputs.end(), carry);
      *at = before;
      move_within(move, *made, before, carry, first);
      made->outputs[results_[move.carry]] = move.source;
      const Var zero = builder_.constant(scalar_array(type.dtype, 0));
      operands[index(at - made->inputs.begin())] =
          builder_.emit1(core_ops().broadcast_in_dim,
                         {{"shape", type.shape}, {"broadcast_dimensions", Ints()}}, {zero}, {});
    }
    made->equations.insert(made->equations.begin(), first.begin(), first.end());
    regions.programs = {ProgramPtr(eliminate_dead_code(made))};
    return builder_.emit(*eqn_.op, eqn_.op->with_regions(eqn_.params, regions), operands,
                         eqn_.location);
  }

  // An iota or a constant that comes from outside of the loop is made within it: masks are known
  // there then.
  bool is_made_within(std::size_t input, Program& made, std::vector<Equation>& out) const {
    const Op& iota = core_ops().iota;
    if (regions_.operands[input].flow != PortKind::whole) return false;
    const Var v = body_.inputs[input], given = in_[input];
    if (const Equation* e = builder_.defined_by(given, iota)) {
      out.push_back({&iota, e->params, {}, {v}, e->location});
      return true;
    }
    const Array* value = builder_.constant_value(given);
    if (!value || value->type().rank() != 0) return false;
    made.constants.push_back({v, view_of(*value, value->type(), {}, 0)});
    return true;
  }

  // Computes `carry` from the carry of the turn before.
  void move_within(const Move& move, Program& made, Var before, Var carry,
                   std::vector<Equation>& out) const {
    std::unordered_map<Var, Var> vars{{move.source, before}};
    for (const int number : move.numbers) {
      Equation e = equation(number);
      for (Var& v : e.inputs) {
        if (const auto renamed = vars.find(v); renamed != vars.end()) v = renamed->second;
      }
      const bool last = number == move.numbers.back();
      const Var result = last ? carry : made.add(body_.type(e.outputs[0]));
      vars.emplace(e.outputs[0], result);
      e.outputs = {result};
      out.push_back(std::move(e));
    }
  }

  // The same behind the loop.
  Var moved(const Move& move, Var last) {
    std::unordered_map<Var, Var> vars{{move.source, last}};
    for (const Constant& c : body_.constants) vars.emplace(c.var, builder_.constant(c.value));
    for (std::size_t i = 0; i < in_.size(); ++i) vars.emplace(body_.inputs[i], in_[i]);
    for (const int number : move.numbers) {
      const Equation& e = equation(number);
      Vars inputs;
      for (const Var v : e.inputs) inputs.push_back(vars.at(v));
      vars[e.outputs[0]] = builder_.emit1(*e.op, e.params, inputs, e.location);
    }
    return vars.at(body_.outputs[results_[move.carry]]);
  }

  std::vector<Move> moves_;
};

}  // namespace

std::optional<Vars> sink_carry_permutes(PatternDriver& driver, const Equation& eqn,
                                        const Vars& in) {
  const Regions regions = eqn.op->regions(eqn.params);
  if (regions.runs != ExecutionKind::counted || regions.devices || regions.fixed) return {};
  return LateMoves(driver.builder(), eqn, in).run();
}

}  // namespace shardax
