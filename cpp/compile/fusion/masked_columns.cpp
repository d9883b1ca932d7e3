// compile/fusion/masked_columns.cpp - columns followed through a group, and their content under a
// mask.
#include "compile/fusion/masked_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "analysis/index_mask.h"
#include "base/index.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"

namespace shardax {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// exp of less than minus this number is 0.
double zero_exponent(DType dtype) { return dtype == DType::float64 ? 1024 : 128; }

bool has_factor(const ArrayFactors& array, std::int32_t factor) {
  return std::ranges::any_of(
      array, [&](const FactorList& own) { return std::ranges::find(own, factor) != own.end(); });
}

// Finds the dimension of columns in each equation, out of one of them: columns that meet are the
// same ones.
class ColumnWalk {
 public:
  std::vector<ColumnDims> dims;  // of each equation

  ColumnWalk(const Program& program, const TileGroup& group)
      : dims(without_columns(program, group)), program_(program), group_(group) {
    for (const int e : group.equations) {
      const Equation& eqn = program.equations[index(e)];
      factors_.push_back(dim_factors(program, eqn));
      made_.emplace(eqn.outputs[0], no_dim);
    }
  }

  // False where the columns of one equation are not those of another.
  bool run(std::size_t start, std::int32_t column) {
    if (!set(start, factor_at(factors_[start]->result, column))) return false;
    bool grows = true;
    while (grows) {
      const std::size_t before = known_;
      for (std::size_t i = 0; i < group_.equations.size(); ++i) {
        if (!visit(i)) return false;
      }
      grows = known_ > before;
    }
    return true;
  }
  bool makes(Var v) const { return made_.contains(v); }
  bool reduces(std::size_t i) const {
    const auto& own = dims[i].operands;
    return dims[i].result == no_dim &&
           std::ranges::any_of(own, [](std::int32_t d) { return d != no_dim; });
  }

 private:
  const Equation& equation(std::size_t i) const {
    return program_.equations[index(group_.equations[i])];
  }
  static std::int32_t factor_at(const ArrayFactors& array, std::int32_t dim) {
    const FactorList& own = array[index(dim)];
    return own.size() == 1 ? own[0] : no_dim;
  }

  bool visit(std::size_t i) {
    const Equation& eqn = equation(i);
    const auto check = [&](Var v, const ArrayFactors& array) {
      const auto found = made_.find(v);
      return found == made_.end() || found->second == no_dim ||
             set(i, factor_at(array, found->second));
    };
    for (std::size_t k = 0; k < eqn.inputs.size(); ++k) {
      if (!check(eqn.inputs[k], factors_[i]->operands[k])) return false;
    }
    return check(eqn.outputs[0], factors_[i]->result);
  }

  // The columns of equation i are that factor.
  bool set(std::size_t i, std::int32_t factor) {
    if (factor == no_dim) return false;
    const DimFactors& own = *factors_[i];
    const FactorUse use = own.at(factor).use;
    const Equation& eqn = equation(i);
    return (use == FactorUse::parallel || use == FactorUse::reduced) &&
           place(eqn.outputs[0], own.result, factor, group_.maps[i].result, dims[i].result) && [&] {
             for (std::size_t k = 0; k < eqn.inputs.size(); ++k) {
               if (!place(eqn.inputs[k], own.operands[k], factor, group_.maps[i].operands[k],
                          dims[i].operands[k]))
                 return false;
             }
             return true;
           }();
  }
  bool place(Var v, const ArrayFactors& array, std::int32_t factor, const TileDims& rows,
             std::int32_t& at) {
    if (!has_factor(array, factor)) return at == no_dim;
    const std::int32_t dim = dim_of(array, factor);
    if (dim == no_dim || std::ranges::find(rows, dim) != rows.end()) return false;
    if (at == no_dim) {
      at = dim;
      ++known_;
    }
    if (const auto found = made_.find(v); found != made_.end()) {
      if (found->second != no_dim && found->second != dim) return false;
      found->second = dim;
    }
    return at == dim;
  }

  const Program& program_;
  const TileGroup& group_;
  std::vector<std::optional<DimFactors>> factors_;
  std::unordered_map<Var, std::int32_t> made_;  // by value of the group: its columns
  std::size_t known_ = 0;
};

// A value's elements in masked columns.
struct Content {
  enum class Kind : std::uint8_t {
    other,   // any
    finite,  // if the operands in `needs` are
    alike,   // `source`, or the constant `number`, in each column
    below,   // the constant `number`
    far,     // below minus zero_exponent
    zero,
  };
  Kind kind = Kind::other;
  Var source = -1;
  std::optional<double> number = {};
  std::vector<Var> needs = {};
  double bound = infinity;  // of finite ones, if operands are smaller than largest_bounded
};
using Under = Content::Kind;

class ColumnContents {
 public:
  ColumnContents(const Program& program, const TileGroup& group, const Blocks& blocks,
                 const IndexMasks& masks, const ColumnWalk& walk, MaskedColumns& out)
      : program_(program), group_(group), blocks_(blocks), masks_(masks), walk_(walk), out_(out) {}

  bool run(const std::vector<Var>& results) {
    for (std::size_t i = 0; i < group_.equations.size(); ++i) {
      const Equation& eqn = program_.equations[index(group_.equations[i])];
      const Var v = eqn.outputs[0];
      makers_.emplace(v, i);
      if (walk_.reduces(i) && !reduces_well(i, eqn)) return false;
      if (walk_.dims[i].result == no_dim) continue;
      known_[v] = content_of(i, eqn);
      const bool sums = group_.maps[i].kept(group_.rows.size()) < group_.rows.size();
      if (sums ? known_[v].kind != Under::zero : std::ranges::find(results, v) != results.end())
        return false;
    }
    return masked_;
  }

 private:
  Content operand(std::size_t i, const Equation& eqn, std::size_t k) {
    const Var v = eqn.inputs[k];
    if (const auto found = known_.find(v); found != known_.end()) return found->second;
    const std::optional<double> number = masks_.number(v);
    if (number && *number == 0) return {.kind = Under::zero};
    const std::int32_t row = group_.maps[i].operands[k][blocks_.split];
    const auto fill = number || row < 0 ? std::nullopt : masks_.filled(v, row);
    if (fill && fill->column == walk_.dims[i].operands[k]) {
      see_mask(fill->offset);
      return fill->number == 0 ? Content{.kind = Under::zero}
                               : Content{Under::alike, -1, fill->number};
    }
    const bool repeated = number || walk_.dims[i].operands[k] == no_dim;
    return repeated ? Content{Under::alike, v, number} : Content{};
  }

  void see_mask(std::int64_t offset) {
    masked_ = true;
    out_.offset = std::max(out_.offset, offset);
  }

  // ---- conditions ----------------------------------------------------------------------------

  // Requires that elements of a value without columns lie between two numbers.
  bool require(Var v, double above, double below, bool nonzero) {
    // Views, and maxima with -inf, hold the same numbers.
    for (auto made = makers_.find(v); made != makers_.end(); made = makers_.find(v)) {
      const Equation& eqn = program_.equations[index(group_.equations[made->second])];
      const bool same =
          eqn.op->view || (eqn.op == &core_ops().max && masks_.number(eqn.inputs[1]) == -infinity);
      if (!same) break;
      v = eqn.inputs[0];
    }
    const DType dtype = program_.type(v).dtype;
    if (dtype != DType::float32 && dtype != DType::float64) return false;
    const auto own = std::ranges::find(out_.conditions, v, &RowCondition::var);
    if (own != out_.conditions.end()) {
      own->range = {std::max(own->range.above, above), std::min(own->range.below, below),
                    own->range.nonzero || nonzero};
      return true;
    }
    const auto made = makers_.find(v);
    const TileDims* dims = made != makers_.end() ? &group_.maps[made->second].result : rows_of(v);
    if (!dims) return false;
    out_.conditions.push_back({v, *dims, made == makers_.end(), {above, below, nonzero}});
    return true;
  }
  // The rows of an operand of the group, as its first user needs them.
  const TileDims* rows_of(Var v) const {
    for (std::size_t i = 0; i < group_.equations.size(); ++i) {
      const Equation& eqn = program_.equations[index(group_.equations[i])];
      for (std::size_t k = 0; k < eqn.inputs.size(); ++k) {
        if (eqn.inputs[k] == v) return &group_.maps[i].operands[k];
      }
    }
    return nullptr;
  }
  bool require_finite(const Content& c, bool nonzero) {
    if (c.number) return std::isfinite(*c.number) && (!nonzero || *c.number != 0);
    return c.kind == Under::alike && c.source >= 0 &&
           require(c.source, -infinity, infinity, nonzero);
  }
  void require_finite(const std::vector<Var>& operands) { add_all(operands, out_.finite); }
  static void add_all(const std::vector<Var>& operands, std::vector<Var>& to) {
    for (const Var v : operands) {
      if (std::ranges::find(to, v) == to.end()) to.push_back(v);
    }
  }

  // ---- equations that add up columns -----------------------------------------------------------

  bool reduces_well(std::size_t i, const Equation& eqn) {
    const CoreOps& ops = core_ops();
    const Content x = operand(i, eqn, 0);
    if (eqn.op == &ops.reduce_sum) return x.kind == Under::zero;
    if (eqn.op == &ops.reduce_max) {
      return has_number(x) && require(eqn.outputs[0], *x.number, infinity, false);
    }
    if (eqn.op != &ops.dot_general) return false;
    const Content y = operand(i, eqn, 1);
    return x.kind == Under::zero ? meets_zero(y, eqn.inputs[1])
                                 : y.kind == Under::zero && meets_zero(x, eqn.inputs[0]);
  }
  // Is a product with zeros zero?
  bool meets_zero(const Content& c, Var v) {
    if (c.kind == Under::zero) return true;
    if (c.kind == Under::finite) {
      require_finite(c.needs);
      return true;
    }
    if (c.number) return std::isfinite(*c.number);
    return is_finite(c, v);
  }
  // Requires that all elements of an operand are finite.
  bool is_finite(const Content& c, Var v) {
    if (walk_.makes(v)) return require_finite(c, false);
    require_finite(std::vector<Var>{v});
    return true;
  }

  // ---- other equations -----------------------------------------------------------------------

  Content content_of(std::size_t i, const Equation& eqn) {
    const CoreOps& ops = core_ops();
    if (eqn.op == &ops.dot_general) return product(i, eqn);
    if (eqn.op == &ops.select_n) return choice(i, eqn);
    const Content x = operand(i, eqn, 0);
    if (eqn.op->kind == Kind::layout) return x;
    if (eqn.op == &ops.reduce_sum || eqn.op == &ops.neg) {
      if (x.kind != Under::zero && x.kind != Under::finite) return {};
      return {.kind = x.kind, .needs = x.needs};
    }
    if (eqn.op == &ops.convert_element_type) return is_float(eqn.inputs[0], eqn) ? x : Content{};
    if (eqn.op == &ops.exp) return exponential(x, program_.type(eqn.outputs[0]).dtype);
    if (eqn.inputs.size() != 2) return {};
    const Content y = operand(i, eqn, 1);
    if (eqn.op == &ops.sub && has_number(x)) return difference(eqn, x, y);
    if (eqn.op == &ops.mul) return multiplied(x, y);
    if (eqn.op == &ops.div) return divided(x, y);
    if (is_add(*eqn.op)) return added(x, y);
    return eqn.op == &ops.sub ? combined(x, y) : Content{};
  }
  bool is_float(Var v, const Equation& eqn) const {
    return is_inexact(program_.type(v).dtype) && is_inexact(program_.type(eqn.outputs[0]).dtype);
  }
  static bool is_inexact(DType d) { return d == DType::float32 || d == DType::float64; }
  static bool is_fill(const Content& c) { return c.kind == Under::alike && c.number; }
  // It is `number`, or less.
  static bool has_number(const Content& c) { return is_fill(c) || c.kind == Under::below; }

  // Zero where one operand is, else finite where both are.
  Content product(std::size_t i, const Equation& eqn) {
    const Content x = operand(i, eqn, 0), y = operand(i, eqn, 1);
    const bool left = walk_.dims[i].operands[0] != no_dim,
               right = walk_.dims[i].operands[1] != no_dim;
    if (left && x.kind == Under::zero) return zero_if(meets_zero(y, eqn.inputs[1]));
    if (right && y.kind == Under::zero) return zero_if(meets_zero(x, eqn.inputs[0]));
    Content out{.kind = Under::finite, .bound = 1};
    for (const std::int64_t d : eqn.params.ints(param::lhs_contract))
      out.bound *= static_cast<double>(program_.type(eqn.inputs[0]).shape[index(d)]);
    for (const std::size_t k : {0, 1}) {
      const Content& c = k == 0 ? x : y;
      const Var v = eqn.inputs[k];
      const bool outside = !walk_.makes(v);
      out.bound *= outside && is_inexact(program_.type(v).dtype) ? largest_bounded : bound_of(c);
      if (outside) {
        out.needs.push_back(v);
      } else if (c.kind == Under::finite) {
        out.needs.insert(out.needs.end(), c.needs.begin(), c.needs.end());
      } else if (!require_finite(c, false)) {
        return {};
      }
    }
    return out;
  }
  static double bound_of(const Content& c) {
    return c.kind == Under::zero ? 0 : c.number ? std::abs(*c.number) : c.bound;
  }
  static Content zero_if(bool zero) { return zero ? Content{.kind = Under::zero} : Content{}; }

  Content choice(std::size_t i, const Equation& eqn) {
    if (eqn.inputs.size() != 3) return {};
    const std::int32_t row = group_.maps[i].operands[0][blocks_.split];
    const auto mask = row < 0 ? std::nullopt : masks_.of(eqn.inputs[0], row);
    if (mask && mask->column == walk_.dims[i].operands[0]) {
      see_mask(mask->offset);
      return operand(i, eqn, mask->value ? 2 : 1);
    }
    const Content x = operand(i, eqn, 1), y = operand(i, eqn, 2);
    const bool same = is_fill(x) && is_fill(y) && *x.number == *y.number;
    return same || (x.kind == Under::zero && y.kind == Under::zero) ? x : Content{};
  }

  Content exponential(const Content& x, DType dtype) const {
    const bool zero = x.kind == Under::far || (has_number(x) && *x.number < -zero_exponent(dtype));
    return zero_if(zero && is_inexact(dtype));
  }
  // Of the number under the mask, and one number of each row: its maximum, say.
  Content difference(const Equation& eqn, const Content& x, const Content& y) {
    const DType dtype = program_.type(eqn.outputs[0]).dtype;
    const double above = *x.number + zero_exponent(dtype);
    if (!is_inexact(dtype) || y.kind != Under::alike) return {};
    const bool far = y.number ? *y.number > above && *y.number < infinity
                              : y.source >= 0 && require(y.source, above, infinity, false);
    return far ? Content{.kind = Under::far} : Content{};
  }
  Content multiplied(const Content& x, const Content& y) {
    const bool first = x.kind == Under::zero;
    if (!first && y.kind != Under::zero) return finite(x, y, bound_of(x) * bound_of(y));
    const Content& other = first ? y : x;
    if (other.kind == Under::finite) require_finite(other.needs);
    return zero_if(other.kind == Under::zero || other.kind == Under::finite ||
                   require_finite(other, false));
  }
  Content divided(const Content& x, const Content& y) {
    if (x.kind != Under::zero && x.kind != Under::finite) return {};
    if (!require_finite(y, true)) return {};
    Content out = x;
    out.bound = y.number ? x.bound / std::abs(*y.number) : infinity;
    return out;
  }
  Content added(const Content& x, const Content& y) {
    // Finite numbers plus -inf, or those that a number below them outweighs.
    for (const auto& [far, other] : {std::pair(&x, &y), std::pair(&y, &x)}) {
      if (!is_fill(*far) || other->kind != Under::finite) continue;
      if (*far->number == -infinity) {
        require_finite(other->needs);
        return *far;
      }
      if (*far->number > -4 * other->bound) continue;
      add_all(other->needs, out_.bounded);
      return {.kind = Under::below, .number = *far->number / 2};
    }
    return combined(x, y);
  }
  // A sum or a difference.
  Content combined(const Content& x, const Content& y) {
    if (x.kind == Under::zero && y.kind == Under::zero) return x;
    return finite(x, y, bound_of(x) + bound_of(y));
  }
  Content finite(const Content& x, const Content& y, double bound) {
    if (x.kind != Under::finite && y.kind != Under::finite) return {};
    Content out{.kind = Under::finite, .bound = bound};
    for (const Content* c : {&x, &y}) {
      if (c->kind == Under::finite) {
        out.needs.insert(out.needs.end(), c->needs.begin(), c->needs.end());
      } else if (c->kind != Under::zero && !require_finite(*c, false)) {
        return {};
      }
    }
    return out;
  }

  const Program& program_;
  const TileGroup& group_;
  const Blocks& blocks_;
  const IndexMasks& masks_;
  const ColumnWalk& walk_;
  MaskedColumns& out_;
  std::unordered_map<Var, std::size_t> makers_;  // by value of the group: its equation there
  std::unordered_map<Var, Content> known_;       // of those with columns
  bool masked_ = false;
};

// The mask of a selection along the rows of blocks, or that of a term which is negative under it.
std::optional<IndexMask> mask_of(const Program& program, const IndexMasks& masks,
                                 const Equation& eqn, const DimMap& map, std::size_t split) {
  const auto fits = [&](std::size_t k) {
    return map.operands[k][split] >= 0 &&
           program.type(eqn.inputs[k]).rank() == program.type(eqn.outputs[0]).rank();
  };
  if (eqn.op == &core_ops().select_n && fits(0))
    return masks.of(eqn.inputs[0], map.operands[0][split]);
  if (!is_add(*eqn.op)) return {};
  for (const std::size_t k : {0, 1}) {
    const auto fill = fits(k) ? masks.filled(eqn.inputs[k], map.operands[k][split]) : std::nullopt;
    if (fill && fill->number < 0) return IndexMask{fill->row, fill->column, fill->offset, true};
  }
  return {};
}

}  // namespace

std::optional<MaskedColumns> find_masked_columns(const Program& program, const TileGroup& group,
                                                 const std::vector<Var>& results, Blocks& blocks) {
  const std::int64_t rows = group.rows.back();
  const Blocks more = choose_blocks(
      group, std::max(tuning::masked_columns::least_rows, rows / tuning::masked_columns::widths));
  const auto may_mask = [&](int e) {
    const Op& op = *program.equations[index(e)].op;
    return &op == &core_ops().select_n || is_add(op);
  };
  if (more.per_line < tuning::masked_columns::least_blocks ||
      std::ranges::none_of(group.equations, may_mask))
    return {};
  const IndexMasks masks(program);
  for (std::size_t i = 0; i < group.equations.size(); ++i) {
    const Equation& eqn = program.equations[index(group.equations[i])];
    const auto seen = mask_of(program, masks, eqn, group.maps[i], more.split);
    if (!seen) continue;
    MaskedColumns out;
    out.count = program.type(eqn.outputs[0]).shape[index(seen->column)];
    out.offset = seen->offset;
    if (out.count < tuning::masked_columns::least_columns) return {};
    ColumnWalk walk(program, group);
    if (!walk.run(i, seen->column) ||
        !ColumnContents(program, group, more, masks, walk, out).run(results))
      return {};
    out.dims = std::move(walk.dims);
    blocks = more;
    return out;
  }
  return {};
}

bool may_skip_columns(const Program& program, const TileGroup& group) {
  Blocks blocks;
  return find_masked_columns(program, group, {}, blocks).has_value();
}

}  // namespace shardax
