// compile/lower/assign_layouts.cpp - short trailing dimensions exchanged with a long one.
//
// A comparison of all pairs of points, x[:, None] - y[None], ends in the few coordinates of a
// point. Its rows have three elements, of which one operand repeats each and the other all. With
// the coordinates in front, [n, 3, m], rows are long: one operand is a number in each row and the
// other is contiguous. Sums over coordinates add rows, sums over points are sums of rows.
//
// Elementwise ops, reductions, slices, pads and concatenations pass values on to each other. These
// values are transposed together if that spares more short rows than the copies at its ends cost.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/index.h"
#include "compile/builder.h"
#include "compile/passes.h"
#include "compile/simplify/pattern_driver.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

std::int64_t elements_behind(const Shape& shape, std::size_t tail) {
  return std::accumulate(shape.end() - static_cast<std::ptrdiff_t>(tail), shape.end(),
                         std::int64_t{1}, std::multiplies<>());
}

// The number of dimensions behind the long one; 0: the rows are not short, or no dimension is long.
std::size_t dims_behind(const Type& type) {
  std::size_t tail = 0;
  while (tail < type.rank() &&
         elements_behind(type.shape, tail + 1) <= tuning::assign_layouts::most_short)
    ++tail;
  const std::int64_t behind = elements_behind(type.shape, tail);
  if (behind < 2 || tail == type.rank() || type.size() < tuning::assign_layouts::least_exchanged)
    return 0;
  const std::int64_t size = type.shape[type.rank() - 1 - tail];
  return size >= tuning::assign_layouts::least_long && size >= 2 * behind ? tail : 0;
}

// The order that puts the long dimension behind the others.
Ints turned_order(std::size_t rank, std::size_t tail) {
  Ints order = ops::iota_ints(rank);
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(rank - 1 - tail),
              order.begin() + static_cast<std::ptrdiff_t>(rank - tail), order.end());
  return order;
}

enum class Way { elementwise, broadcast, reduction, slice, pad, concatenate, none };

Way way_of(const Equation& eqn) {
  const CoreOps& k = core_ops();
  if (eqn.op == &k.broadcast_in_dim) return Way::broadcast;
  if (eqn.op == &k.slice) return Way::slice;
  if (eqn.op == &k.pad) return Way::pad;
  if (eqn.op == &k.concatenate) return Way::concatenate;
  if (!eqn.op->effect.empty()) return Way::none;
  if (eqn.op->kind == Kind::elementwise) return Way::elementwise;
  if (eqn.op->kind == Kind::reduction && eqn.inputs.size() == 1) return Way::reduction;
  return Way::none;
}

// The largest value of an equation, whose order the others follow.
Var main_of(Way way, const Equation& eqn) {
  return way == Way::reduction || way == Way::slice ? eqn.inputs[0] : eqn.outputs[0];
}

// Is `v`, whose long dimension goes behind `tail` others, turned by that transpose?
bool turns(const Equation& eqn, std::size_t rank, std::size_t tail) {
  return eqn.op == &core_ops().transpose &&
         eqn.params.ints(param::permutation) == turned_order(rank, tail);
}

// Finds values that are worth transposing (tuning::assign_layouts::worth).
class Search {
 public:
  explicit Search(const Program& program)
      : program_(program),
        tails_(program.types.size()),
        parents_(program.types.size()),
        natural_(program.types.size(), false),
        gains_(program.types.size(), 0),
        costs_(program.types.size(), 0),
        makers_(makers(program)) {
    std::iota(parents_.begin(), parents_.end(), 0);
    for (std::size_t v = 0; v < tails_.size(); ++v) tails_[v] = dims_behind(program.types[v]);
  }

  // Per variable: the dimensions that its long one goes behind, 0 where it stays.
  std::vector<std::size_t> run() {
    if (std::all_of(tails_.begin(), tails_.end(), [](std::size_t t) { return t == 0; })) return {};
    for (const Equation& eqn : program_.equations) join(eqn);
    for (const Equation& eqn : program_.equations) weigh(eqn);
    for (Var v : program_.inputs) needs_natural(v);
    for (const Constant& c : program_.constants) needs_natural(c.var);
    for (Var v : program_.outputs) needs_natural(v);
    bool any = false;
    for (std::size_t v = 0; v < tails_.size(); ++v) {
      if (tails_[v] == 0) continue;
      const auto root = index(find(static_cast<Var>(v)));
      if (gains_[root] == 0 || gains_[root] < tuning::assign_layouts::worth * costs_[root])
        tails_[v] = 0;
      else
        any = true;
    }
    return any ? tails_ : std::vector<std::size_t>();
  }

 private:
  const Type& type(Var v) const { return program_.type(v); }
  std::size_t tail(Var v) const { return tails_[index(v)]; }
  std::size_t long_dim(Var v) const { return type(v).rank() - 1 - tail(v); }
  Var find(Var v) {
    const auto parent = [&](Var u) -> Var& { return parents_[index(u)]; };
    while (parent(v) != v) v = parent(v) = parent(parent(v));
    return v;
  }
  void unite(Var a, Var b) { parents_[index(find(a))] = find(b); }

  // The smaller value of a broadcast or a reduction, and its dimensions in the larger one: those of
  // one element, which a broadcast repeats, too.
  static Var part_of(Way way, const Equation& eqn) {
    return way == Way::broadcast ? eqn.inputs[0] : eqn.outputs[0];
  }
  Ints dims_of_part(Way way, const Equation& eqn) const {
    if (way == Way::broadcast) return eqn.params.ints(param::broadcast_dimensions);
    const std::optional<DimFactors> dims = dim_factors(program_, eqn);
    return DimFactors::matching_dims(dims->result, dims->operands[0]);
  }

  // Is `part`, whose dimensions are these of `whole`, turned as `whole` is?
  bool follows(Var part, Var whole, const Ints& dims) const {
    if (tail(part) == 0 || tail(whole) == 0 ||
        type(part).size() * tuning::assign_layouts::much_smaller < type(whole).size())
      return false;
    const auto to = static_cast<std::int64_t>(long_dim(whole));
    const std::size_t l = long_dim(part);
    return dims[l] == to && (l == 0 || dims[l - 1] < to);
  }

  void join(const Equation& eqn) {
    const Way way = way_of(eqn);
    if (way == Way::none || tail(main_of(way, eqn)) == 0) return;
    const Var whole = main_of(way, eqn);
    const auto same_dims = [&](Var v) {
      if (v != whole && follows(v, whole, ops::iota_ints(type(whole).rank()))) unite(v, whole);
    };
    if (way == Way::broadcast || way == Way::reduction) {
      const Var part = part_of(way, eqn);
      if (follows(part, whole, dims_of_part(way, eqn))) unite(part, whole);
    } else {
      for (Var v : eqn.inputs)
        if (type(v).rank() == type(whole).rank()) same_dims(v);
      for (Var v : eqn.outputs) same_dims(v);
    }
  }

  std::int64_t& cost(Var v) { return costs_[index(find(v))]; }
  std::int64_t& gain(Var v) { return gains_[index(find(v))]; }
  void needs_natural(Var v) {
    if (tail(v) == 0 || natural_[index(v)]) return;
    natural_[index(v)] = true;
    cost(v) += type(v).size();
  }

  // Do these dimensions have the long one of `whole`, and some of those behind it?
  std::pair<bool, bool> has(Var whole, const Ints& dims) const {
    bool has_long = false, has_short = false;
    const auto long_at = static_cast<std::int64_t>(long_dim(whole));
    for (const std::int64_t d : dims) {
      has_long |= d == long_at;
      has_short |= d > long_at && type(whole).shape[index(d)] > 1;
    }
    return {has_long, has_short};
  }

  void weigh(const Equation& eqn) {
    const Way way = way_of(eqn);
    const Var whole = way == Way::none ? -1 : main_of(way, eqn);
    if (way == Way::none || tail(whole) == 0) {
      for (Var v : eqn.inputs)
        if (!takes_turned(eqn, v)) needs_natural(v);
      for (Var v : eqn.outputs) needs_natural(v);
      return;
    }
    const auto apart = [&](Var v) { return tail(v) == 0 || find(v) != find(whole); };
    if (way == Way::broadcast || way == Way::reduction) {
      const Var part = part_of(way, eqn);
      const auto [has_long, has_short] = has(whole, dims_of_part(way, eqn));
      if (apart(part) && has_long && has_short) cost(whole) += type(part).size();
      if (way == Way::reduction && has_long != has_short) gain(whole) += type(whole).size();
    } else if (way == Way::elementwise) {
      if (std::any_of(eqn.inputs.begin(), eqn.inputs.end(), [&](Var v) { return repeats(v); }))
        gain(whole) += type(whole).size();
    } else {
      const auto moves = [&](Var v) {
        const bool copied = type(v).rank() == type(whole).rank() && apart(v) &&
                            elements_behind(type(v).shape, tail(whole)) > 1;
        if (copied) cost(whole) += type(v).size();
      };
      for (Var v : eqn.inputs) moves(v);
      for (Var v : eqn.outputs) moves(v);
    }
  }

  // Transposes that turn it; and products, which read any order, if they sum over the long
  // dimension.
  bool takes_turned(const Equation& eqn, Var v) const {
    if (tail(v) == 0) return false;
    if (turns(eqn, type(v).rank(), tail(v))) return true;
    if (eqn.op != &core_ops().dot_general || eqn.inputs[0] == eqn.inputs[1]) return false;
    const Ints summed = dim_factors(program_, eqn)->reduced_dims(v == eqn.inputs[0] ? 0 : 1);
    return std::find(summed.begin(), summed.end(), static_cast<std::int64_t>(long_dim(v))) !=
           summed.end();
  }

  // Is it a broadcast of single rows, or of each element to a row?
  bool repeats(Var v) const {
    const int made = makers_[index(v)];
    if (made < 0 || tail(v) == 0) return false;
    const Equation& eqn = program_.equations[index(made)];
    if (way_of(eqn) != Way::broadcast) return false;
    const auto [has_long, has_short] = has(v, dims_of_part(Way::broadcast, eqn));
    return has_long != has_short;
  }

  const Program& program_;
  std::vector<std::size_t> tails_;
  std::vector<Var> parents_;
  std::vector<bool> natural_;  // counted as needed in its own order
  std::vector<std::int64_t> gains_, costs_;
  const std::vector<int> makers_;
};

// The program with those values turned.
class Turner {
 public:
  Turner(const Program& source, std::vector<std::size_t> tails)
      : source_(source), tails_(std::move(tails)), builder_(source) {}

  ProgramPtr run() {
    const auto each = [&](const Equation& eqn, const Vars& in) { return step(eqn, in); };
    return eliminate_dead_code(emit_again(source_, builder_, each));
  }

 private:
  Vars step(const Equation& eqn, const Vars& in) {
    const Way way = way_of(eqn);
    const Var whole = way == Way::none ? -1 : main_of(way, eqn);
    const std::size_t tail = way == Way::none ? 0 : tails_[index(whole)];
    if (tail == 0) {
      const std::size_t before = in.empty() ? 0 : tails_[index(eqn.inputs[0])];
      if (before > 0 && turns(eqn, source_.type(eqn.inputs[0]).rank(), before))
        return {turned(in[0], eqn.params.ints(param::permutation), eqn.location)};
      return builder_.emit(*eqn.op, eqn.params, in, eqn.location);
    }
    const std::size_t rank = source_.type(whole).rank();
    const Ints order = turned_order(rank, tail), places = ops::inverse_order(order);
    Params params = eqn.params;
    Ints in_order = order, out_order = order;
    if (way == Way::broadcast) {
      const Ints dims = ops::reordered(places, params.ints(param::broadcast_dimensions));
      in_order = ops::iota_ints(dims.size());
      std::sort(in_order.begin(), in_order.end(),
                [&](std::int64_t a, std::int64_t b) { return dims[index(a)] < dims[index(b)]; });
      params.set("broadcast_dimensions", ops::reordered(dims, in_order));
      params.set("shape", ops::reordered(params.ints(param::shape), order));
    } else if (way == Way::reduction) {
      const Ints kept = without_dims(ops::iota_ints(rank), params.ints(param::axes));
      Ints axes = ops::reordered(places, params.ints(param::axes));
      std::sort(axes.begin(), axes.end());
      out_order.clear();
      for (std::int64_t d : order) {
        const auto found = std::find(kept.begin(), kept.end(), d);
        if (found != kept.end()) out_order.push_back(found - kept.begin());
      }
      params.set("axes", axes);
    } else if (way == Way::concatenate) {
      params.set("dimension", places[index(params.integer(param::dimension))]);
    } else if (way == Way::slice || way == Way::pad) {
      for (const ParamName name :
           ParamNames{"start_indices", "limit_indices", "strides", "low", "high", "interior"})
        if (params.has(name)) params.set(name, ops::reordered(params.get<Ints>(name), order));
    }
    Vars operands;
    for (Var v : in) {
      const bool turns = builder_.type(v).rank() == in_order.size();
      operands.push_back(turns ? turned(v, in_order, eqn.location) : v);
    }
    Vars out = builder_.emit(*eqn.op, params, operands, eqn.location);
    for (Var& v : out) v = natural(v, out_order, eqn.location);
    return out;
  }

  // `v` in memory with its dimensions in that order.
  Var turned(Var v, const Ints& order, const LocationPtr& location) {
    const auto known_form = turned_.find(v);
    if (known_form != turned_.end() && known_form->second.order == order)
      return known_form->second.var;
    const Var seen = reorder(v, order, location);
    const Equation* made = builder_.definition(seen);
    // Joined with nothing, it is written as it is seen.
    return made && made->op == &core_ops().transpose
               ? builder_.emit1(core_ops().concatenate, {{"dimension", 0}}, {seen}, location)
               : seen;
  }

  // The value in the program's order, given `v` in that order.
  Var natural(Var v, const Ints& order, const LocationPtr& location) {
    const Var seen = reorder(v, ops::inverse_order(order), location);
    if (seen != v) turned_[seen] = {v, order};
    return seen;
  }

  // A view in another order. If only dimensions of one element move, elements keep their places.
  Var reorder(Var v, const Ints& order, const LocationPtr& location) {
    if (order == ops::iota_ints(order.size())) return v;
    const Shape& shape = builder_.type(v).shape;
    Ints long_dims;
    for (std::int64_t d : order)
      if (shape[index(d)] != 1) long_dims.push_back(d);
    if (!std::is_sorted(long_dims.begin(), long_dims.end()))
      return builder_.emit1(core_ops().transpose, {{"permutation", order}}, {v}, location);
    return builder_.emit1(core_ops().reshape, ops::reshape_params(ops::reordered(shape, order)),
                          {v}, location);
  }

  struct Turned {
    Var var;
    Ints order;
  };
  const Program& source_;
  const std::vector<std::size_t> tails_;
  Builder builder_;
  std::unordered_map<Var, Turned> turned_;  // by what has the program's own order
};

}  // namespace

ProgramPtr assign_layouts(const ProgramPtr& program) {
  std::vector<std::size_t> tails = Search(*program).run();
  return tails.empty() ? program : Turner(*program, std::move(tails)).run();
}

}  // namespace shardax
