// compile/fusion/tile_groups.cpp - groups grow equation by equation, kept acyclic while they are
// open.
#include "compile/fusion/tile_groups.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/index.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

using Groups = std::uint32_t;  // open groups, a bit each

constexpr Groups bit_of(std::size_t s) { return Groups{1} << s; }

std::int64_t size_of(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t n = 1;
  for (std::size_t k = from; k < to; ++k) n *= shape[k];
  return n;
}

class RowGroupFinder {
 public:
  RowGroupFinder(const Program& program, const Copies& copies)
      : program_(program), copies_(copies), variables_(program.types.size()) {}

  std::vector<TileGroup> run() {
    for (std::size_t e = 0; e < program_.equations.size(); ++e) {
      runtime::poll_caller();
      place(static_cast<int>(e));
    }
    for (std::size_t s = 0; s < tuning::tile_groups::most_open; ++s) close(s);
    return std::move(found_);
  }

 private:
  struct Variable {
    int group = -1;       // the number of the open group that makes it, or reads it row by row
    bool member = false;  // it is made there, and each of its rows with the group's
    TileDims dims;        // the group's rows in it
    int level = 0;        // the number of loops of the group before it
    Groups needs = 0;     // other open groups that must be complete before it
  };
  struct Open {
    int number = -1;        // -1: the place is free
    std::size_t first = 0;  // the number of variables when it was opened
    int last = 0;           // the equation that joined last
    Shape rows;
    std::int64_t elements = 0;  // of its largest variable
    bool worth_it = false;
    Groups after = 0;  // other open groups that must be complete before it
    int kept = -1;     // row dimensions of its sums over rows; -1: it has none
    std::vector<int> equations;
    std::vector<DimMap> maps;
    std::vector<Var> apart;  // results of equations that it has copies of
  };

  const Type& type(Var v) const { return program_.type(v); }
  Variable& variable(Var v) { return variables_[index(v)]; }

  // The place of an open group; tuning::tile_groups::most_open for one that is closed.
  std::size_t place_of(int number) const {
    std::size_t s = 0;
    while (s < tuning::tile_groups::most_open && (number < 0 || open_[s].number != number)) ++s;
    return s;
  }

  // The open groups that must be complete before a use of v, unless it is in the same one.
  Groups needs(Var v) {
    const Variable& x = variable(v);
    const std::size_t s = x.member ? place_of(x.group) : tuning::tile_groups::most_open;
    return closed(s < tuning::tile_groups::most_open ? x.needs | bit_of(s) : x.needs);
  }
  Groups closed(Groups groups) const {
    Groups out = groups;
    for (std::size_t s = 0; s < tuning::tile_groups::most_open; ++s) {
      if (groups & bit_of(s)) out |= open_[s].after;
    }
    return out;
  }

  void place(int e) {
    const Equation& eqn = program_.equations[index(e)];
    if (!join_some(e, eqn)) {
      Groups all = 0;
      for (Var v : eqn.inputs) all |= needs(v);
      for (Var v : eqn.outputs) variable(v).needs = all;
    }
    made_.insert(made_.end(), eqn.outputs.begin(), eqn.outputs.end());
  }

  bool join_some(int e, const Equation& eqn) {
    std::size_t target = tuning::tile_groups::most_open;
    for (Var v : eqn.inputs) {
      const std::size_t s = place_of(variable(v).group);
      if (s == tuning::tile_groups::most_open || s == target) continue;
      if (target == tuning::tile_groups::most_open) {
        target = s;
      } else if (variable(v).member && !merge(target, s) && try_join(e, eqn, s)) {
        return true;
      }
    }
    if (target != tuning::tile_groups::most_open && try_join(e, eqn, target)) return true;
    if (!opens(eqn)) return false;
    const TileStart start = start_of_rows(program_, eqn);
    if (start.operand < 0 || start.dims.empty()) return false;
    const Var from = eqn.inputs[index(start.operand)];
    const std::size_t s = open(from, start.dims);
    std::vector<const TileDims*> given(eqn.inputs.size(), nullptr);
    given[index(start.operand)] = &start.dims;
    return join_rows(e, eqn, s, given, 0);
  }

  std::int64_t elements_of(const Equation& eqn) const {
    std::int64_t most = type(eqn.outputs[0]).size();
    if (eqn.op->kind == Kind::reduction) most = std::max(most, type(eqn.inputs[0]).size());
    return most;
  }
  bool is_large(const Equation& eqn) const {
    return elements_of(eqn) * itemsize(type(eqn.inputs[0]).dtype) >=
           tuning::tile_groups::least_group / 8;
  }

  bool opens(const Equation& eqn) const {
    if (eqn.outputs.size() != 1 || eqn.inputs.empty() || !is_large(eqn)) return false;
    return eqn.op == &core_ops().dot_general ? spreads(eqn) : works(eqn);
  }
  static bool works(const Equation& eqn) {
    return eqn.op->kind == Kind::elementwise || eqn.op->kind == Kind::reduction ||
           eqn.op == &core_ops().dot_general;
  }
  // Much of little, or little of much?
  bool spreads(const Equation& eqn) const {
    const auto [a, b, out] = sizes_of(eqn);
    return is_light(eqn) && out >= tuning::tile_groups::product_ratio * (a + b);
  }
  bool gathers(const Equation& eqn) const {
    const auto [a, b, out] = sizes_of(eqn);
    return is_light(eqn) &&
           std::max(a, b) >= tuning::tile_groups::product_ratio * (out + std::min(a, b));
  }
  bool is_light(const Equation& eqn) const {
    const auto [a, b, out] = sizes_of(eqn);
    return out * dim_factors(program_, eqn)->reduced_size() <=
           tuning::tile_groups::most_multiply_adds * std::max({a, b, out});
  }
  std::array<std::int64_t, 3> sizes_of(const Equation& eqn) const {
    return {type(eqn.inputs[0]).size(), type(eqn.inputs[1]).size(), type(eqn.outputs[0]).size()};
  }

  std::size_t open(Var from, const TileDims& dims) {
    std::size_t s = 0;
    for (std::size_t k = 0; k < tuning::tile_groups::most_open; ++k) {
      if (open_[k].number < 0) {
        s = k;
        break;
      }
      if (open_[k].last < open_[s].last) s = k;
    }
    close(s);
    Open& group = open_[s];
    group = {};
    group.number = numbers_++;
    group.first = made_.size();
    for (std::int32_t d : dims) group.rows.push_back(type(from).shape[index(d)]);
    return s;
  }

  // Groups that one equation uses become one, if nothing leads from one to the other.
  bool merge(std::size_t into, std::size_t from) {
    Open &a = open_[into], &b = open_[from];
    if ((a.after & bit_of(from)) || (b.after & bit_of(into))) return false;
    if (a.kept >= 0 && b.kept >= 0 && a.kept != b.kept) return false;
    if (holds(a, b.apart) || holds(b, a.apart)) return false;
    std::size_t rows = 0;
    while (rows < std::min(a.rows.size(), b.rows.size()) && a.rows[rows] == b.rows[rows]) ++rows;
    const std::int64_t elements = std::max(a.elements, b.elements);
    if (rows == 0 || !fits(a.rows, rows, elements) ||
        a.equations.size() + b.equations.size() > tuning::tile_groups::most_equations)
      return false;
    a.rows.resize(rows);
    a.elements = elements;
    a.worth_it = a.worth_it || b.worth_it;
    a.kept = std::max(a.kept, b.kept);
    a.after |= b.after;
    a.maps.insert(a.maps.end(), b.maps.begin(), b.maps.end());
    a.apart.insert(a.apart.end(), b.apart.begin(), b.apart.end());
    for (int e : b.equations) {
      const Equation& eqn = program_.equations[index(e)];
      for (const Vars* vars : {&eqn.inputs, &eqn.outputs}) {
        for (Var v : *vars) {
          if (variable(v).group == b.number) variable(v).group = a.number;
        }
      }
      a.equations.push_back(e);
    }
    forget(from, bit_of(into));
    a.first = std::min(a.first, b.first);
    const Groups after = closed(a.after) & ~bit_of(into);
    a.after = after;
    for (Open& other : open_) {
      if (other.after & bit_of(into)) other.after |= after;
    }
    b = {};
    return true;
  }

  bool holds(const Open& group, const std::vector<Var>& any) {
    return std::any_of(any.begin(), any.end(),
                       [&](Var v) { return variable(v).group == group.number; });
  }

  static bool fits(const Shape& rows, std::size_t count, std::int64_t elements) {
    const std::int64_t n = size_of(rows, 0, count);
    return n > 0 && elements / n < tuning::tile_groups::most_row_elements;
  }

  bool try_join(int e, const Equation& eqn, std::size_t s) {
    const Open& group = open_[s];
    int level = 0;
    bool members = false, shared = false;
    std::vector<const TileDims*> given, made_here;
    for (Var v : eqn.inputs) {
      const Variable& x = variable(v);
      const bool here = x.group == group.number;
      given.push_back(here ? &x.dims : nullptr);
      made_here.push_back(here && x.member ? &x.dims : nullptr);
      if (!here) continue;
      (x.member ? members : shared) = true;
      if (x.member) level = std::max(level, x.level);
    }
    return join_rows(e, eqn, s, given, level) ||
           (members && shared && join_rows(e, eqn, s, made_here, level));
  }

  // Lets the equation join, with its operands' rows where `given` says.
  bool join_rows(int e, const Equation& eqn, std::size_t s,
                 const std::vector<const TileDims*>& given, int level) {
    Open& group = open_[s];
    if (group.equations.size() >= tuning::tile_groups::most_equations) return false;
    const auto copy = copies_.find(e);
    if (copy != copies_.end()) {
      const Var original = program_.equations[index(copy->second)].outputs[0];
      if (holds(group, {original})) return false;
      group.apart.push_back(original);
    }
    DimMap map = follow_rows(program_, eqn, given, group.rows.size());
    const std::int64_t elements = std::max(group.elements, elements_of(eqn));
    std::size_t rows = map.rows;
    const std::size_t kept = map.kept(rows);
    // A reduced row dimension becomes part of a row if the longer row fits.
    if (kept > 0 && size_of(group.rows, 0, kept) >= tuning::tile_groups::least_rows &&
        fits(group.rows, kept, elements))
      rows = kept;
    const bool sums = kept < rows;
    Groups before = 0;
    for (Var v : eqn.inputs) {
      const Variable& x = variable(v);
      if (x.group != group.number || !x.member) before |= needs(v);
    }
    if (rows == 0 || (before & bit_of(s)) || !fits(group.rows, rows, elements)) return false;
    if (!belongs(eqn, level) || (!eqn.op->view && !map.leading(type(eqn.outputs[0]).shape, rows)))
      return false;
    if (sums && (!can_sum(eqn, size_of(group.rows, 0, kept)) ||
                 (group.kept >= 0 && group.kept != static_cast<int>(kept))))
      return false;
    group.rows.resize(rows);
    group.elements = elements;
    if (sums) group.kept = static_cast<int>(kept);
    join(e, eqn, map, sums, before, level, s);
    group.maps.push_back(std::move(map));
    return true;
  }
  bool belongs(const Equation& eqn, int level) const {
    if (eqn.op != &core_ops().dot_general) return true;
    return spreads(eqn) || (level > 0 && gathers(eqn));
  }
  // Is what it adds up over rows, in the precision of the result, small enough?
  bool can_sum(const Equation& eqn, std::int64_t results) const {
    const Type& out = type(eqn.outputs[0]);
    if (is_half(out.dtype) || is_half(type(eqn.inputs[0]).dtype)) return false;
    return out.bytes() / results <= tuning::tile_groups::most_sum_bytes &&
           (eqn.op->kind == Kind::reduction || out.dtype != DType::boolean);
  }

  void join(int e, const Equation& eqn, const DimMap& map, bool sums, Groups before, int level,
            std::size_t s) {
    Open& group = open_[s];
    group.equations.push_back(e);
    group.last = e;
    group.after |= before;
    for (Open& other : open_) {
      if (other.number >= 0 && (other.after & bit_of(s))) other.after |= group.after;
    }
    if (works(eqn) && level > 0 && is_large(eqn)) group.worth_it = true;
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      Variable& x = variable(eqn.inputs[i]);
      const TileDims& dims = map.operands[i];
      if (x.member || std::find(dims.begin(), dims.end(), no_dim) != dims.end()) continue;
      x.group = group.number;
      x.dims = dims;
    }
    Variable& out = variable(eqn.outputs[0]);
    if (sums) {
      out.needs = bit_of(s);
      return;
    }
    out.group = group.number;
    out.member = true;
    out.dims = map.result;
    out.level = level + (waits(eqn) ? 1 : 0);
  }
  static bool waits(const Equation& eqn) {
    return eqn.op->kind == Kind::reduction || eqn.op == &core_ops().dot_general;
  }

  // Groups that need the group at `s` need `instead` from here on.
  void forget(std::size_t s, Groups instead) {
    for (std::size_t i = open_[s].first; i < made_.size(); ++i) {
      Variable& x = variable(made_[i]);
      if (x.needs & bit_of(s)) x.needs = (x.needs & ~bit_of(s)) | instead;
    }
    for (Open& other : open_) {
      if (other.after & bit_of(s)) other.after = (other.after & ~bit_of(s)) | instead;
    }
  }

  // Keeps the group if running it by rows saves something.
  void close(std::size_t s) {
    Open& group = open_[s];
    if (group.number < 0) return;
    const std::int64_t rows = size_of(group.rows, 0, group.rows.size());
    if (group.worth_it && rows >= tuning::tile_groups::least_rows) {
      TileGroup made;
      made.rows = group.rows;
      made.kept = group.kept < 0 ? 0 : std::min(index(group.kept), made.rows.size());
      std::vector<std::size_t> order(group.equations.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return group.equations[a] < group.equations[b];
      });
      for (std::size_t i : order) {
        made.equations.push_back(group.equations[i]);
        made.maps.push_back(first_rows(group.maps[i], made.rows.size()));
      }
      measure_footprint(program_, made);
      if (made.tile_footprint * rows >= tuning::tile_groups::least_group)
        found_.push_back(std::move(made));
    }
    for (int e : group.equations) {
      const Equation& eqn = program_.equations[index(e)];
      for (Var v : eqn.inputs) leave(variable(v), group);
      for (Var v : eqn.outputs) leave(variable(v), group);
    }
    forget(s, group.after);
    group = {};
  }
  // Equations that joined before the group had fewer row dimensions know of more.
  static DimMap first_rows(DimMap map, std::size_t rows) {
    map.rows = rows;
    map.result.resize(rows);
    for (TileDims& dims : map.operands) dims.resize(rows);
    return map;
  }
  static void leave(Variable& x, const Open& group) {
    if (x.group != group.number) return;
    if (x.member) x.needs |= group.after;
    x.group = -1;
    x.member = false;
  }

  const Program& program_;
  const Copies& copies_;
  std::vector<Variable> variables_;
  std::vector<Var> made_;  // in order
  std::array<Open, tuning::tile_groups::most_open> open_;
  int numbers_ = 0;
  std::vector<TileGroup> found_;
};

}  // namespace

std::vector<TileGroup> find_tile_groups(const Program& program, const Copies& copies) {
  return RowGroupFinder(program, copies).run();
}

}  // namespace shardax
