// compile/fusion/fuse.cpp - grouping, kept acyclic by ancestor sets.
#include "compile/fusion/fuse.h"

#include <algorithm>

#include "base/index.h"
#include "compile/tuning.h"
#include "ir/op.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

// A set of units as bits.
class UnitSet {
 public:
  void add(std::size_t i) {
    if (words_.size() <= i / 64) words_.resize(i / 64 + 1);
    words_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  bool has(std::size_t i) const {
    return i / 64 < words_.size() && (words_[i / 64] >> (i % 64) & 1);
  }
  void add_all(const UnitSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (std::size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
  }

 private:
  std::vector<std::uint64_t> words_;
};

// The program's equations in an order in which each group's follow one another.
std::vector<std::vector<int>> in_order(const Program& program,
                                       const std::vector<TileGroup>& groups) {
  const std::size_t count = program.equations.size();
  std::vector<int> group_of(count, -1);
  const std::vector<int> made_by = makers(program);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (int e : groups[g].equations) group_of[index(e)] = static_cast<int>(g);
  }
  // Items: an equation for itself, or a group, which stands for its first one.
  std::vector<int> item(count);
  for (std::size_t e = 0; e < count; ++e) {
    item[e] = group_of[e] < 0 ? static_cast<int>(e) : groups[index(group_of[e])].equations[0];
  }
  const auto equations_of = [&](int first) {
    const int g = group_of[index(first)];
    return g < 0 ? std::vector<int>{first} : groups[index(g)].equations;
  };
  std::vector<std::vector<int>> out;
  std::vector<bool> seen(count, false);
  struct Visit {
    std::vector<int> equations, needs;
    std::size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto visit = [&](int e) {
    const int first = item[index(e)];
    if (seen[index(first)]) return;
    seen[index(first)] = true;
    Visit made{equations_of(first), {}};
    for (int member : made.equations) {
      for (Var v : program.equations[index(member)].inputs) {
        const int p = made_by[index(v)];
        if (p >= 0 && item[index(p)] != first) made.needs.push_back(p);
      }
    }
    stack.push_back(std::move(made));
  };
  for (std::size_t e = 0; e < count; ++e) {
    visit(static_cast<int>(e));
    while (!stack.empty()) {
      if (stack.back().next < stack.back().needs.size()) {
        visit(stack.back().needs[stack.back().next++]);
      } else {
        out.push_back(std::move(stack.back().equations));
        stack.pop_back();
      }
    }
  }
  return out;
}

class Fuser {
 public:
  explicit Fuser(const Program& program)
      : program_(program),
        producer_(program.types.size(), -1),
        reader_(program.types.size(), -1),
        after_(program.types.size(), false) {}

  std::vector<FusionGroup> run(const std::vector<TileGroup>& groups) {
    if (groups.empty()) {
      for (std::size_t e = 0; e < program_.equations.size(); ++e) place(static_cast<int>(e));
      return ordered();
    }
    std::vector<const TileGroup*> starts(program_.equations.size(), nullptr);
    for (const TileGroup& group : groups) starts[index(group.equations[0])] = &group;
    for (const std::vector<int>& equations : in_order(program_, groups)) {
      const TileGroup* group = starts[index(equations[0])];
      if (group) {
        place_group(*group);
      } else {
        place(equations[0]);
      }
    }
    return ordered();
  }

 private:
  const Type& type(Var v) const { return program_.type(v); }

  static bool fusable(const Equation& eqn) {
    return eqn.op->kind == Kind::elementwise || eqn.op->kind == Kind::reduction;
  }

  Shape loop_shape(const Equation& eqn) const {
    return type(eqn.op->kind == Kind::reduction ? eqn.inputs[0] : eqn.outputs[0]).shape;
  }

  void place_group(const TileGroup& group) {
    const std::size_t unit = units_.size();
    units_.emplace_back();
    units_.back().rows = std::make_shared<const TileGroup>(group);
    ancestors_.emplace_back();
    for (int e : group.equations) join(e, unit);
  }

  void place(int e) {
    runtime::poll_caller();
    const Equation& eqn = program_.equations[index(e)];
    std::size_t unit = units_.size();
    if (fusable(eqn)) {
      for (std::size_t candidate : candidates(eqn)) {
        if (can_join(eqn, candidate)) {
          unit = candidate;
          break;
        }
      }
    }
    if (unit < units_.size()) merge_makers(eqn, unit);
    if (unit == units_.size()) start_unit(eqn);
    join(e, unit);
  }

  // Units worth trying: those that make an operand, latest first, then loops over the same operand,
  // then other short loops.
  std::vector<std::size_t> candidates(const Equation& eqn) const {
    std::vector<std::size_t> out;
    const auto add = [&](std::vector<std::size_t> more) {
      std::sort(more.begin(), more.end(), std::greater<>());
      for (std::size_t u : more) {
        if (std::find(out.begin(), out.end(), u) == out.end()) out.push_back(u);
      }
    };
    std::vector<std::size_t> makers, readers, last;
    for (Var v : eqn.inputs) {
      if (producer_[index(v)] >= 0) makers.push_back(index(producer_[index(v)]));
      if (reader_[index(v)] >= 0) readers.push_back(index(reader_[index(v)]));
    }
    add(std::move(makers));
    add(std::move(readers));
    const Type& from = type(eqn.op->kind == Kind::reduction ? eqn.inputs[0] : eqn.outputs[0]);
    if (from.bytes() > tuning::fuse::most_unrelated_bytes) return out;
    for (std::size_t back = 0; back < 4 && back < units_.size(); ++back)
      last.push_back(units_.size() - 1 - back);
    add(std::move(last));
    return out;
  }

  bool can_join(const Equation& eqn, std::size_t u) const {
    const FusionGroup& unit = units_[u];
    if (!unit.loop || unit.equations.size() >= tuning::fuse::max_equations ||
        unit.shape != loop_shape(eqn))
      return false;
    if (eqn.op->kind == Kind::reduction && unit.reduces &&
        !(unit.axes == eqn.params.ints(param::axes))) {
      return false;
    }
    for (Var v : eqn.inputs) {
      const int p = producer_[index(v)];
      if (p < 0) continue;
      if (index(p) == u) {
        if (after_[index(v)]) return false;  // its own reduction's result
      } else if (ancestors_[index(p)].has(u)) {
        return false;
      }
    }
    return true;
  }

  // Loops that make other operands become part of the unit, where nothing leads from one to the
  // other. Each product of a * x + b * y began a loop.
  void merge_makers(const Equation& eqn, std::size_t unit) {
    for (Var v : eqn.inputs) {
      const int p = producer_[index(v)];
      if (p >= 0 && index(p) != unit && can_merge(index(p), unit) && can_join(eqn, index(p)))
        merge(index(p), unit);
    }
  }
  bool can_merge(std::size_t from, std::size_t into) const {
    const FusionGroup &a = units_[from], &b = units_[into];
    return a.loop && a.shape == b.shape &&
           a.equations.size() + b.equations.size() < tuning::fuse::max_equations &&
           !(a.reduces && b.reduces && !(a.axes == b.axes)) && !ancestors_[from].has(into) &&
           !ancestors_[into].has(from);
  }
  void merge(std::size_t from, std::size_t into) {
    FusionGroup &a = units_[from], &b = units_[into];
    for (int e : a.equations) {
      for (Var v : program_.equations[index(e)].outputs)
        producer_[index(v)] = static_cast<int>(into);
      for (Var v : program_.equations[index(e)].inputs) {
        if (reader_[index(v)] == static_cast<int>(from)) reader_[index(v)] = static_cast<int>(into);
      }
    }
    b.equations.insert(b.equations.end(), a.equations.begin(), a.equations.end());
    std::sort(b.equations.begin(), b.equations.end());
    if (a.reduces) {
      b.reduces = true;
      b.axes = a.axes;
    }
    a = {};  // without equations
    ancestors_[into].add_all(ancestors_[from]);
    for (std::size_t other = 0; other < units_.size(); ++other) {
      if (!ancestors_[other].has(from) && !ancestors_[other].has(into)) continue;
      ancestors_[other].add(into);
      ancestors_[other].add_all(ancestors_[into]);
    }
  }

  void start_unit(const Equation& eqn) {
    FusionGroup unit;
    unit.loop = fusable(eqn);
    if (unit.loop) unit.shape = loop_shape(eqn);
    units_.push_back(std::move(unit));
    ancestors_.emplace_back();
  }

  void join(int e, std::size_t u) {
    const Equation& eqn = program_.equations[index(e)];
    FusionGroup& unit = units_[u];
    unit.equations.push_back(e);
    if (eqn.op->kind == Kind::reduction && !unit.rows) {
      unit.reduces = true;
      unit.axes = eqn.params.ints(param::axes);
    }
    UnitSet needed;
    for (Var v : eqn.inputs) {
      if (unit.loop && type(v).shape == unit.shape) reader_[index(v)] = static_cast<int>(u);
      const int p = producer_[index(v)];
      if (p < 0 || index(p) == u) continue;
      needed.add(index(p));
      needed.add_all(ancestors_[index(p)]);
    }
    ancestors_[u].add_all(needed);
    const bool has_successors = unit.equations.size() > 1 && !unit.rows;
    for (std::size_t other = 0; has_successors && other < units_.size(); ++other) {
      if (other != u && ancestors_[other].has(u)) ancestors_[other].add_all(ancestors_[u]);
    }
    for (Var v : eqn.outputs) {
      producer_[index(v)] = static_cast<int>(u);
      after_[index(v)] = eqn.op->kind == Kind::reduction;
    }
  }

  // Depth first over the needs of each unit, in program order.
  std::vector<FusionGroup> ordered() {
    std::vector<std::vector<std::size_t>> needs(units_.size());
    for (std::size_t u = 0; u < units_.size(); ++u) {
      for (int e : units_[u].equations) {
        for (Var v : program_.equations[index(e)].inputs) {
          const int p = producer_[index(v)];
          if (p >= 0 && index(p) != u) needs[u].push_back(index(p));
        }
      }
    }
    std::vector<bool> seen(units_.size(), false);
    std::vector<FusionGroup> out;
    std::vector<std::pair<std::size_t, std::size_t>> stack;
    for (std::size_t root = 0; root < units_.size(); ++root) {
      if (seen[root]) continue;
      seen[root] = true;
      stack.emplace_back(root, 0);
      while (!stack.empty()) {
        auto& [u, next] = stack.back();
        if (next == needs[u].size()) {
          if (!units_[u].equations.empty()) out.push_back(std::move(units_[u]));
          stack.pop_back();
          continue;
        }
        const std::size_t need = needs[u][next++];
        if (!seen[need]) {
          seen[need] = true;
          stack.emplace_back(need, 0);
        }
      }
    }
    return out;
  }

  const Program& program_;
  std::vector<int> producer_;  // per variable: the unit that makes it, or -1
  std::vector<int> reader_;    // per variable: the last loop over it, or -1
  std::vector<bool> after_;    // per variable: available only after its unit
  std::vector<FusionGroup> units_;
  std::vector<UnitSet> ancestors_;
};

}  // namespace

std::vector<FusionGroup> fuse(const Program& program, const std::vector<TileGroup>& groups) {
  return Fuser(program).run(groups);
}

}  // namespace shardax
