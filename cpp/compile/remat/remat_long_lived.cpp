// compile/remat/remat_long_lived.cpp - cheap equations copied to late uses of their results.
//
// A forward pass leaves values for the backward one, which by then have left the caches. Few of
// those that elementwise equations use are kept (ir/sufficient_set.h), and the others are copied:
//   t = tanh x; d = mul t t; ... a megabyte later ...; y = mul d z
//   ->   t = tanh x; ...; u = optimization_barrier x; v = tanh u; w = mul v v; y = mul w z
// The barrier keeps the copies from being joined with their originals.
#include <optional>
#include <unordered_map>

#include "base/index.h"
#include "compile/builder.h"
#include "compile/passes.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/sufficient_set.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

class Shortener {
 public:
  Shortener(const Program& program, const std::vector<bool>& overwritten)
      : program_(program), overwritten_(overwritten), remat_(program) {
    // Elements that pass from loop to loop alone do not lie in memory for long.
    std::vector<bool> stored(program.types.size(), false);
    for (const Equation& eqn : program.equations) {
      if (goes_by_elements(eqn) || is_view(eqn)) continue;
      for (Var v : eqn.inputs) stored[index(base(v))] = true;
      for (Var v : eqn.outputs) stored[index(v)] = true;
    }
    std::int64_t bytes = 0;
    for (const Equation& eqn : program.equations) {
      before_.push_back(bytes);
      for (Var v : eqn.outputs) {
        if (stored[index(v)] && program.type(v).bytes() >= tuning::remat_long_lived::least_kept)
          bytes += program.type(v).bytes();
      }
    }
    before_.push_back(bytes);
  }

  // Null where nothing changes.
  ProgramPtr run() {
    if (before_.back() < tuning::remat_long_lived::far_bytes) return nullptr;
    SufficientSet::Question question = far_values();
    if (question.wanted.empty()) return nullptr;
    question.quick = true;
    const SufficientSet enough(program_, std::move(question));
    if (enough.dropped().empty()) return nullptr;
    enough_ = &enough;
    builder_.emplace(program_);
    std::size_t e = 0;
    const auto step = [&](const Equation& eqn, Vars in) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        now_[eqn.inputs[i]] = in[i];
        if (goes_by_elements(eqn) && is_far(base(eqn.inputs[i]), e) &&
            enough.dropped().count(base(eqn.inputs[i])) > 0)
          in[i] = copy(eqn.inputs[i], e);
      }
      const Vars out = builder_->emit(*eqn.op, eqn.params, in, eqn.location);
      for (std::size_t i = 0; i < out.size(); ++i) now_[eqn.outputs[i]] = out[i];
      ++e;
      return out;
    };
    return eliminate_dead_code(emit_again(program_, *builder_, step));
  }

 private:
  static bool goes_by_elements(const Equation& eqn) {
    return eqn.op->kind == Kind::elementwise || eqn.op->kind == Kind::reduction;
  }
  static bool is_view(const Equation& eqn) { return eqn.op->view && eqn.inputs.size() == 1; }
  // The value of which `v` is a view.
  Var base(Var v) const {
    for (Var shown = remat_.viewed(v); shown >= 0; shown = remat_.viewed(v)) v = shown;
    return v;
  }
  bool is_far(Var v, std::size_t e) const {
    const int made = remat_.maker(v);
    return made >= 0 &&
           before_[e] - before_[index(made) + 1] >= tuning::remat_long_lived::far_bytes;
  }

  // Values with a late use are wanted, and pinned if that use is not elementwise. Small values, and
  // inputs that nothing overwrites, are free.
  SufficientSet::Question far_values() const {
    SufficientSet::Question out;
    std::set<Var> wanted;
    const auto want = [&](Var v, std::size_t e, bool by_elements) {
      v = base(v);
      if (!is_far(v, e) || program_.type(v).bytes() < tuning::remat_long_lived::least_kept) return;
      wanted.insert(v);
      if (!by_elements) out.pinned.insert(v);
    };
    for (std::size_t e = 0; e < program_.equations.size(); ++e) {
      const Equation& eqn = program_.equations[e];
      runtime::poll_caller();
      if (is_view(eqn)) continue;
      for (Var v : eqn.inputs) want(v, e, goes_by_elements(eqn));
    }
    for (Var v : program_.outputs) want(v, program_.equations.size(), false);
    out.wanted.assign(wanted.begin(), wanted.end());
    for (const Type& type : program_.types)
      out.is_free.push_back(type.bytes() < tuning::remat_long_lived::least_kept);
    for (std::size_t i = 0; i < overwritten_.size(); ++i) {
      if (!overwritten_[i]) out.is_free[index(program_.inputs[i])] = true;
    }
    return out;
  }

  // `v` made again for equation `e`, once for equations that are near to each other.
  Var copy(Var v, std::size_t e) {
    const auto found = copies_.find(v);
    if (found != copies_.end() &&
        before_[e] - found->second.second < tuning::remat_long_lived::far_bytes)
      return found->second.first;
    const Equation* eqn = enough_->maker(v);
    Var made;
    if (eqn) {
      Vars in;
      for (Var operand : eqn->inputs) in.push_back(copy(operand, e));
      made = builder_->emit1(*eqn->op, eqn->params, in, eqn->location);
    } else {
      made = now_.at(v);
      if (program_.type(v).bytes() >= tuning::remat_long_lived::least_kept)
        made = builder_->emit1(core_ops().optimization_barrier, {{"id", --barriers_}}, {made},
                               nullptr);
    }
    copies_[v] = {made, before_[e]};
    return made;
  }

  const Program& program_;
  const std::vector<bool>& overwritten_;
  const Rematerializer remat_;
  std::vector<std::int64_t> before_;  // per equation: bytes that those before it leave
  std::optional<Builder> builder_;    // once there is something to change
  const SufficientSet* enough_ = nullptr;
  std::unordered_map<Var, Var> now_;                              // the present name of a variable
  std::unordered_map<Var, std::pair<Var, std::int64_t>> copies_;  // and where they stand
  std::int64_t barriers_ = 0;
};

}  // namespace

ProgramPtr remat_long_lived(const ProgramPtr& program, const std::vector<bool>& overwritten) {
  std::int64_t bytes = 0;
  for (const Type& type : program->types) bytes += type.bytes();
  if (bytes < tuning::remat_long_lived::far_bytes) return program;
  const ProgramPtr shorter = Shortener(*program, overwritten).run();
  return shorter ? shorter : program;
}

}  // namespace shardax
