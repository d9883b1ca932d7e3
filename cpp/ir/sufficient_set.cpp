// ir/sufficient_set.cpp - selection by common predecessors, then one by one.
#include "ir/sufficient_set.h"

#include <algorithm>
#include <map>

#include "base/index.h"
#include "ir/op.h"

namespace shardax {
namespace {

// That make one value again.
constexpr std::size_t most_equations = 12;

}  // namespace

SufficientSet::SufficientSet(const Program& program, Question question)
    : program_(program), question_(std::move(question)), makers_(makers(program)) {
  for (const Constant& constant : program.constants) question_.is_free[index(constant.var)] = true;
  kept_.insert(question_.wanted.begin(), question_.wanted.end());
  share_sources();
  express_by_others();
}

const Equation* SufficientSet::cheap_maker(Var v) const {
  const int e = makers_[index(v)];
  if (e < 0) return nullptr;
  const Equation& eqn = program_.equations[index(e)];
  const bool view = eqn.op->view && eqn.inputs.size() == 1;
  const bool quick = question_.quick && eqn.op->quick && !is_complex(program_.type(v).dtype);
  return (eqn.op->cheap || view || quick) && eqn.outputs.size() == 1 ? &eqn : nullptr;
}

// What `v` is made of by few cheap equations, down to values for which `is_leaf` holds or that
// nothing cheap makes; false where it takes more.
template <class IsLeaf>
bool SufficientSet::sources(Var v, const IsLeaf& is_leaf, std::set<Var>& found,
                            std::set<Var>& made) const {
  if (is_free(v) || made.count(v) > 0) return true;
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

bool SufficientSet::is_quick_enough(const std::set<Var>& made) const {
  return std::count_if(made.begin(), made.end(), [&](Var v) {
           return program_.equations[index(makers_[index(v)])].op->quick;
         }) <= 1;
}

// Values that are made of one value each, and of what is free, give way to that value where it is
// smaller than they are together.
void SufficientSet::share_sources() {
  std::map<Var, std::vector<Var>> made_of;
  for (Var v : kept_) {
    if (is_free(v) || question_.pinned.count(v) > 0) continue;
    std::set<Var> found, made;
    const auto nothing = [](Var) { return false; };
    if (!sources(v, nothing, found, made) || found.size() > 1 || !is_quick_enough(made)) continue;
    if (found.empty()) {
      dropped_.insert(v);
    } else if (*found.begin() != v) {
      made_of[*found.begin()].push_back(v);
    }
  }
  for (const auto& [source, made] : made_of) {
    std::int64_t bytes = kept_.count(source) > 0 ? program_.type(source).bytes() : 0;
    for (Var v : made) bytes += program_.type(v).bytes();
    if (bytes <= program_.type(source).bytes()) continue;
    kept_.insert(source);
    dropped_.insert(made.begin(), made.end());
  }
  for (Var v : dropped_) kept_.erase(v);
}

// The others, last first, are made of those before them where that takes these alone.
void SufficientSet::express_by_others() {
  std::vector<Var> order(kept_.begin(), kept_.end());
  std::sort(order.begin(), order.end(),
            [&](Var a, Var b) { return makers_[index(a)] > makers_[index(b)]; });
  for (Var v : order) {
    if (is_free(v) || question_.pinned.count(v) > 0) continue;
    std::set<Var> found, made;
    const auto is_other = [&](Var in) { return in != v && kept_.count(in) > 0; };
    if (!sources(v, is_other, found, made) || !is_quick_enough(made)) continue;
    if (!std::all_of(found.begin(), found.end(), is_other)) continue;
    kept_.erase(v);
    dropped_.insert(v);
  }
}

const Equation* SufficientSet::maker(Var v) const {
  if (is_free(v) || kept_.count(v) > 0) return nullptr;
  const int e = makers_[index(v)];
  return e < 0 ? nullptr : &program_.equations[index(e)];
}

template <class Leaf, class Node>
void SufficientSet::visit(Var v, std::set<Var>& seen, const Leaf& leaf, const Node& node) const {
  if (!seen.insert(v).second) return;
  const Equation* eqn = maker(v);
  if (!eqn) return leaf(v);
  for (Var in : eqn->inputs) visit(in, seen, leaf, node);
  node(makers_[index(v)]);
}

std::vector<Var> SufficientSet::kept() const {
  std::set<Var> seen;
  std::vector<Var> out;
  std::set<Var> constants;
  for (const Constant& constant : program_.constants) constants.insert(constant.var);
  const auto leaf = [&](Var v) {
    if (constants.count(v) == 0) out.push_back(v);
  };
  for (Var v : question_.wanted) visit(v, seen, leaf, [](int) {});
  std::sort(out.begin(), out.end(), [&](Var a, Var b) {
    return std::pair(makers_[index(a)], a) < std::pair(makers_[index(b)], b);
  });
  return out;
}

std::vector<int> SufficientSet::equations() const {
  std::set<Var> seen;
  std::vector<int> out;
  for (Var v : question_.wanted) visit(v, seen, [](Var) {}, [&](int e) { out.push_back(e); });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace shardax
