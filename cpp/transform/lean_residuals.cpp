// transform/lean_residuals.cpp - which values are kept, and what makes the others of them.
#include "transform/lean_residuals.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/index.h"
#include "base/lists.h"
#include "ir/op.h"
#include "trace/stage.h"
#include "transform/portable.h"

namespace shardax {
namespace {

// That make one value again.
constexpr std::size_t most_equations = 8;

class Leaner {
 public:
  Leaner(const Program& known, const std::vector<Var>& residuals, const std::vector<bool>& is_free)
      : known_(known), makers_(makers(known)), is_free_(known.types.size(), false) {
    for (const Constant& constant : known.constants) is_free_[index(constant.var)] = true;
    for (std::size_t i = 0; i < known.inputs.size(); ++i)
      is_free_[index(known.inputs[i])] = is_free[i];
    kept_.insert(residuals.begin(), residuals.end());
    share_sources();
    express_by_others();
  }

  // The values that are kept: as they are made, inputs first.
  std::vector<Var> kept(const std::vector<Var>& residuals) const {
    std::set<Var> all;
    for (Var v : residuals) leaves(v, all);
    std::vector<Var> out;
    for (Var v : all) {
      if (!is_constant(v)) out.push_back(v);
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](Var a, Var b) { return makers_[index(a)] < makers_[index(b)]; });
    return out;
  }

  // Makes the residuals of `kept`.
  ProgramPtr again(const std::vector<Var>& kept, const std::vector<Var>& residuals) const {
    std::set<int> needed;
    for (Var v : residuals) equations_for(v, needed);
    MutableProgram out = copy_of(known_);
    out->inputs = kept;
    out->equations.clear();
    for (int e : needed) out->equations.push_back(known_.equations[index(e)]);
    out->outputs = residuals;
    return out;
  }

 private:
  using Leaves = std::set<Var>;

  bool is_constant(Var v) const {
    return std::any_of(known_.constants.begin(), known_.constants.end(),
                       [&](const Constant& c) { return c.var == v; });
  }
  const Equation* cheap_maker(Var v) const {
    const int e = makers_[index(v)];
    if (e < 0) return nullptr;
    const Equation& eqn = known_.equations[index(e)];
    const bool view = eqn.op->view && eqn.inputs.size() == 1;
    return (eqn.op->cheap || view) && eqn.outputs.size() == 1 ? &eqn : nullptr;
  }

  // What `v` is made of by few cheap equations, down to values for which `is_leaf` holds or that
  // nothing cheap makes; false where it takes more.
  template <class IsLeaf>
  bool sources(Var v, const IsLeaf& is_leaf, Leaves& found, std::set<Var>& made) const {
    if (is_free_[index(v)] || made.count(v) > 0) return true;
    const Equation* eqn = is_leaf(v) ? nullptr : cheap_maker(v);
    if (!eqn) {
      found.insert(v);
      return true;
    }
    made.insert(v);
    return made.size() <= most_equations &&
           std::all_of(eqn->inputs.begin(), eqn->inputs.end(),
                       [&](Var in) { return sources(in, is_leaf, found, made); });
  }

  // Residuals that are made of one value each, and of what is free, give way to that value where it
  // is smaller than they are together.
  void share_sources() {
    std::map<Var, std::vector<Var>> made_of;
    for (Var v : kept_) {
      Leaves found;
      std::set<Var> made;
      const auto nothing = [](Var) { return false; };
      if (is_free_[index(v)] || !sources(v, nothing, found, made) || found.size() > 1) continue;
      if (found.empty()) {
        dropped_.insert(v);
      } else if (*found.begin() != v) {
        made_of[*found.begin()].push_back(v);
      }
    }
    for (const auto& [source, made] : made_of) {
      std::int64_t bytes = kept_.count(source) > 0 ? known_.type(source).bytes() : 0;
      for (Var v : made) bytes += known_.type(v).bytes();
      if (bytes <= known_.type(source).bytes()) continue;
      kept_.insert(source);
      dropped_.insert(made.begin(), made.end());
    }
    for (Var v : dropped_) kept_.erase(v);
  }

  // The others, last first, are made of those before them where that takes these alone.
  void express_by_others() {
    std::vector<Var> order(kept_.begin(), kept_.end());
    std::sort(order.begin(), order.end(),
              [&](Var a, Var b) { return makers_[index(a)] > makers_[index(b)]; });
    for (Var v : order) {
      Leaves found;
      std::set<Var> made;
      const auto is_leaf = [&](Var in) { return in != v && kept_.count(in) > 0; };
      if (is_free_[index(v)] || !sources(v, is_leaf, found, made)) continue;
      if (found.count(v) > 0 || !std::all_of(found.begin(), found.end(), is_leaf)) continue;
      kept_.erase(v);
      dropped_.insert(v);
    }
  }

  // What residual `v` is in the end made of.
  void leaves(Var v, std::set<Var>& out) const {
    if (is_free_[index(v)] || kept_.count(v) > 0) {
      out.insert(v);
      return;
    }
    for (Var in : known_.equations[index(makers_[index(v)])].inputs) leaves(in, out);
  }
  void equations_for(Var v, std::set<int>& out) const {
    if (is_free_[index(v)] || kept_.count(v) > 0) return;
    const int e = makers_[index(v)];
    if (!out.insert(e).second) return;
    for (Var in : known_.equations[index(e)].inputs) equations_for(in, out);
  }

  const Program& known_;
  std::vector<int> makers_;
  std::vector<bool> is_free_;
  std::set<Var> kept_, dropped_;
};

}  // namespace

LinearizedProgram lean_residuals(const LinearizedProgram& halves,
                                 const std::vector<bool>& is_free) {
  const std::string key = mask_key(mask_key("lean", halves.nonzero), is_free);
  return *halves.known->derived<LinearizedProgram>(key, [&] {
    const MutableProgram known = copy_of(*inlined(halves.known));
    const auto outputs = known->outputs.size() - halves.residual_count;
    const std::vector<Var> residuals = part(known->outputs, outputs, halves.residual_count);
    const Leaner leaner(*known, residuals, is_free);
    const std::vector<Var> kept = leaner.kept(residuals);
    const ProgramPtr again = leaner.again(kept, residuals);
    known->outputs = joined(part(known->outputs, 0, outputs), kept);

    const Types kept_types = again->input_types(), taken = halves.linear->input_types();
    const ProgramPtr linear = stage_closed(
        joined(kept_types, part(taken, residuals.size(), taken.size() - residuals.size())),
        [&](const Values& in) {
          const Values made = evaluate(*again, part(in, 0, kept.size()));
          return evaluate(*halves.linear,
                          joined(made, part(in, kept.size(), in.size() - kept.size())));
        },
        halves.linear->name);
    return std::make_shared<LinearizedProgram>(
        LinearizedProgram{known, linear, kept.size(), kept_types, halves.nonzero});
  });
}

}  // namespace shardax
