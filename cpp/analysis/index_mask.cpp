// analysis/index_mask.cpp - facts of masks, followed through the ops that make them.
#include "analysis/index_mask.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "array/scalar_number.h"
#include "base/index.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"

namespace shardax {
namespace {

// Sums with larger numbers might leave the range of 32 bits.
constexpr std::int64_t most_offset = std::int64_t{1} << 30;

bool is_move(const Op& op) {
  const CoreOps& ops = core_ops();
  return &op == &ops.broadcast_in_dim || &op == &ops.reshape || &op == &ops.squeeze ||
         &op == &ops.transpose;
}

// The dimension of `to` that is dimension `dim` of `from`, or no_dim.
std::int32_t same_dim(const ArrayFactors& from, std::int32_t dim, const ArrayFactors& to) {
  const FactorList& own = from[index(dim)];
  return own.size() == 1 ? dim_of(to, own[0]) : no_dim;
}

}  // namespace

struct IndexMasks::Index {
  std::int32_t dim;
  std::int64_t plus;
};

const Equation* IndexMasks::maker(Var v) const {
  const int e = makers_[index(v)];
  return e < 0 ? nullptr : &program_.equations[index(e)];
}

std::optional<double> IndexMasks::number(Var v) const {
  while (const Equation* eqn = maker(v)) {
    if (!is_move(*eqn->op)) return {};
    v = eqn->inputs[0];
  }
  const auto at = std::ranges::find(program_.constants, v, &Constant::var);
  return at == program_.constants.end() ? std::nullopt : scalar_number(*at->value);
}

std::optional<IndexMasks::Index> IndexMasks::index_of(Var v) const {
  const CoreOps& ops = core_ops();
  const Equation* eqn = maker(v);
  const DType dtype = program_.type(v).dtype;
  if (!eqn || (dtype != DType::int32 && dtype != DType::int64)) return {};
  if (eqn->op == &ops.iota)
    return Index{static_cast<std::int32_t>(eqn->params.integer(param::dimension)), 0};
  if (is_move(*eqn->op)) {
    const std::optional<Index> from = index_of(eqn->inputs[0]);
    const std::optional<DimFactors> dims = dim_factors(program_, *eqn);
    if (!from || !dims) return {};
    const std::int32_t dim = same_dim(dims->operands[0], from->dim, dims->result);
    return dim == no_dim ? std::nullopt : std::optional(Index{dim, from->plus});
  }
  const bool adds = eqn->op == &ops.add, subtracts = eqn->op == &ops.sub;
  for (const std::size_t i : {0, 1}) {
    if (!adds && !(subtracts && i == 0)) continue;
    const std::optional<double> n = number(eqn->inputs[1 - i]);
    const std::optional<Index> from = n ? index_of(eqn->inputs[i]) : std::nullopt;
    if (!from) continue;
    const std::int64_t plus = from->plus + static_cast<std::int64_t>(adds ? *n : -*n);
    return std::abs(plus) < most_offset ? std::optional(Index{from->dim, plus}) : std::nullopt;
  }
  return {};
}

// x >= y is false where y's index is the greater one, and true where x's is.
IndexMasks::Fact IndexMasks::compared(const Equation& eqn, std::int32_t row) const {
  const CoreOps& ops = core_ops();
  const bool at_least = eqn.op == &ops.ge, less = eqn.op == &ops.lt;
  if (!at_least && !less && eqn.op != &ops.gt && eqn.op != &ops.le) return {};
  std::optional<Index> x = index_of(eqn.inputs[0]), y = index_of(eqn.inputs[1]);
  if (!x || !y || x->dim == y->dim) return {};
  if (less || eqn.op == &ops.le) std::swap(x, y);
  // x > y is x >= y + 1.
  if (!at_least && eqn.op != &ops.le) ++y->plus;
  if (x->dim == row) return IndexMask{row, y->dim, x->plus - y->plus, false};
  if (y->dim == row) return IndexMask{row, x->dim, y->plus - x->plus - 1, true};
  return {};
}

// Of "and" and "or": an operand that decides the result.
IndexMasks::Fact IndexMasks::either(const Equation& eqn, std::int32_t row, bool value) const {
  Fact best;
  for (const Var v : eqn.inputs) {
    if (program_.type(v).rank() != program_.type(eqn.outputs[0]).rank()) continue;
    const Fact one = of(v, row);
    if (one && one->value == value && (!best || one->offset < best->offset)) best = one;
  }
  return best;
}

// The answer of `find` for the operand, along the dimension that becomes `row`.
template <class Found, class F>
std::optional<Found> IndexMasks::moved(const Equation& eqn, std::int32_t row, const F& find) const {
  const std::optional<DimFactors> dims = dim_factors(program_, eqn);
  if (!dims) return {};
  const std::int32_t from = same_dim(dims->result, row, dims->operands[0]);
  std::optional<Found> own = from == no_dim ? std::nullopt : find(eqn.inputs[0], from);
  if (!own) return {};
  own->row = row;
  own->column = same_dim(dims->operands[0], own->column, dims->result);
  return own->column == no_dim ? std::nullopt : own;
}

// Of a mask that was made a number: tril(ones) == 0.
IndexMasks::Fact IndexMasks::compared_with_number(const Equation& eqn, std::int32_t row) const {
  const CoreOps& ops = core_ops();
  if (eqn.inputs.size() != 2) return {};
  for (const std::size_t i : {0, 1}) {
    const std::optional<double> n = number(eqn.inputs[1 - i]);
    const auto own = n ? filled(eqn.inputs[i], row) : std::nullopt;
    if (!own) continue;
    const double x = i == 0 ? own->number : *n, y = i == 0 ? *n : own->number;
    const auto fact = [&](bool value) { return IndexMask{row, own->column, own->offset, value}; };
    if (eqn.op == &ops.eq) return fact(x == y);
    if (eqn.op == &ops.ne) return fact(x != y);
    if (eqn.op == &ops.lt) return fact(x < y);
    if (eqn.op == &ops.le) return fact(x <= y);
    if (eqn.op == &ops.gt) return fact(x > y);
    if (eqn.op == &ops.ge) return fact(x >= y);
  }
  return {};
}

// Of (1 - mask) * n, whose numbers are exact.
std::optional<IndexFill> IndexMasks::scaled(const Equation& eqn, std::int32_t row) const {
  const bool multiplies = eqn.op == &core_ops().mul;
  for (const std::size_t i : {0, 1}) {
    const std::optional<double> n = number(eqn.inputs[1 - i]);
    auto own = n && (multiplies || i == 1) ? filled(eqn.inputs[i], row) : std::nullopt;
    if (!own || (own->number != 0 && own->number != 1)) continue;
    if (multiplies ? !std::isfinite(*n) : *n != 1) continue;
    own->number = multiplies ? own->number * *n : 1 - own->number;
    return own;
  }
  return {};
}

std::optional<IndexFill> IndexMasks::filled(Var v, std::int32_t row) const {
  const CoreOps& ops = core_ops();
  const Equation* eqn = maker(v);
  if (!eqn || index(row) >= program_.type(v).rank()) return {};
  const auto fill = [](const IndexMask& mask, double number) {
    return IndexFill{mask.row, mask.column, mask.offset, number};
  };
  if (is_move(*eqn->op))
    return moved<IndexFill>(*eqn, row, [&](Var from, std::int32_t r) { return filled(from, r); });
  if (eqn->op == &ops.select_n && eqn->inputs.size() == 3) {
    if (program_.type(eqn->inputs[0]).rank() != program_.type(v).rank()) return {};
    const Fact mask = of(eqn->inputs[0], row);
    const auto n = mask ? number(eqn->inputs[mask->value ? 2 : 1]) : std::nullopt;
    return n ? std::optional(fill(*mask, *n)) : std::nullopt;
  }
  if (eqn->op == &ops.mul || eqn->op == &ops.sub) return scaled(*eqn, row);
  if (eqn->op != &ops.convert_element_type) return {};
  if (program_.type(eqn->inputs[0]).dtype == DType::boolean) {
    const Fact mask = of(eqn->inputs[0], row);
    return mask ? std::optional(fill(*mask, mask->value ? 1 : 0)) : std::nullopt;
  }
  // All dtypes have zero and one.
  const auto own = filled(eqn->inputs[0], row);
  return own && (own->number == 0 || own->number == 1) ? own : std::nullopt;
}

std::optional<IndexMask> IndexMasks::of(Var mask, std::int32_t row) const {
  const std::pair key{mask, row};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  return known_[key] = find(mask, row);
}

IndexMasks::Fact IndexMasks::find(Var mask, std::int32_t row) const {
  const CoreOps& ops = core_ops();
  const Equation* eqn = maker(mask);
  if (!eqn || program_.type(mask).dtype != DType::boolean ||
      index(row) >= program_.type(mask).rank())
    return {};
  if (is_move(*eqn->op))
    return moved<IndexMask>(*eqn, row, [&](Var from, std::int32_t r) { return of(from, r); });
  if (eqn->op == &ops.and_) return either(*eqn, row, false);
  if (eqn->op == &ops.or_) return either(*eqn, row, true);
  if (eqn->op == &ops.select_n) {
    const auto own = filled(mask, row);
    return own ? Fact({row, own->column, own->offset, own->number != 0}) : std::nullopt;
  }
  if (eqn->op == &ops.not_) {
    Fact whole = of(eqn->inputs[0], row);
    if (whole) whole->value = !whole->value;
    return whole;
  }
  const Fact indices = compared(*eqn, row);
  return indices ? indices : compared_with_number(*eqn, row);
}

}  // namespace shardax
