// ir/sufficient_set.cpp - selection by common predecessors, then one by one.
#include "ir/sufficient_set.h"

#include <algorithm>
#include <map>

#include "base/index.h"
#include "ir/op.h"

namespace shardax {
namespace {

// The most equations that make one value again.
constexpr std::size_t most_equations = 12;

}  // namespace

SufficientSet::SufficientSet(const Program& program, Question question)
    : program_(program), question_(std::move(question)), remat_(program) {
  for (const Constant& constant : program.constants) question_.is_free[index(constant.var)] = true;
  kept_.insert(question_.wanted.begin(), question_.wanted.end());
  share_sources();
  express_by_others();
}

// The few cheap equations that make `v` from values for which `is_leaf` holds or that nothing cheap
// makes. None if it takes more.
template <class IsLeaf>
std::optional<RematSlice> SufficientSet::sources(Var v, const IsLeaf& is_leaf) const {
  const RematEffort effort = question_.quick ? RematEffort::quick_too : RematEffort::cheap_or_view;
  RematSlice slice;
  const auto source_of = [&](Var in) {
    if (is_free(in)) return RematSource::present;
    const bool made = !is_leaf(in) && remat_.maker_within(in, effort);
    return made ? RematSource::made : RematSource::read;
  };
  if (!remat_.collect(v, source_of, most_equations, slice)) return {};
  const auto quick = std::ranges::count_if(
      slice.equations, [&](int e) { return program_.equations[index(e)].op->quick; });
  if (quick > 1) return {};
  return slice;
}

// Values made of one value each, and of free ones, give way to that value if it is smaller than
// their sum.
void SufficientSet::share_sources() {
  std::map<Var, std::vector<Var>> made_of;
  for (Var v : kept_) {
    if (is_free(v) || question_.pinned.count(v) > 0) continue;
    const std::optional<RematSlice> slice = sources(v, [](Var) { return false; });
    if (!slice || slice->reads.size() > 1) continue;
    if (slice->reads.empty()) {
      dropped_.insert(v);
    } else if (*slice->reads.begin() != v) {
      made_of[*slice->reads.begin()].push_back(v);
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
            [&](Var a, Var b) { return remat_.maker(a) > remat_.maker(b); });
  for (Var v : order) {
    if (is_free(v) || question_.pinned.count(v) > 0) continue;
    const auto is_other = [&](Var in) { return in != v && kept_.count(in) > 0; };
    const std::optional<RematSlice> slice = sources(v, is_other);
    if (!slice || !std::ranges::all_of(slice->reads, is_other)) continue;
    kept_.erase(v);
    dropped_.insert(v);
  }
}

const Equation* SufficientSet::maker(Var v) const {
  if (is_free(v) || kept_.count(v) > 0) return nullptr;
  const int e = remat_.maker(v);
  return e < 0 ? nullptr : &program_.equations[index(e)];
}

template <class Leaf, class Node>
void SufficientSet::visit(Var v, std::set<Var>& seen, const Leaf& leaf, const Node& node) const {
  if (!seen.insert(v).second) return;
  const Equation* eqn = maker(v);
  if (!eqn) return leaf(v);
  for (Var in : eqn->inputs) visit(in, seen, leaf, node);
  node(remat_.maker(v));
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
    return std::pair(remat_.maker(a), a) < std::pair(remat_.maker(b), b);
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
