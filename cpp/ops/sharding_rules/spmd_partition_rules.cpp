// ops/sharding_rules/spmd_partition_rules.cpp - splits that operands are to have, and params of
// parts.
#include "ops/sharding_rules/spmd_partition_rules.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "ir/dim_factors.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax::ops {
namespace {

using Axes = std::vector<std::string>;

std::vector<Split> all_whole(const Types& in) {
  std::vector<Split> out;
  for (const Type& type : in) out.emplace_back(type.rank());
  return out;
}

}  // namespace

Split split_as(const ArrayFactors& array, const FactorAxes& axes) {
  Split split;
  for (const FactorList& dim : array) split.push_back(dim.empty() ? Axes() : axes[index(dim[0])]);
  return split;
}

Shape part_shape(const Type& whole, const Split& split, const Sharding& mesh) {
  Shape shape = whole.shape;
  for (std::size_t d = 0; d < split.size(); ++d) shape[d] /= parts_of(split[d], mesh);
  return shape;
}

Parts parts_whole(const SplitArgs& a) { return {all_whole(a.in), Split(a.out.rank()), a.params}; }

namespace {

// The elements before and after a part of operand 0 that its part of the windows needs. None if
// parts of the two do not match.
struct Reach {
  std::int64_t before, after;
};
std::optional<Reach> reach_of(const SplitArgs& a, const DimFactors& dims, std::int32_t factor,
                              std::int64_t parts) {
  const auto& [use, windows, slide] = dims.at(factor);
  const std::int32_t d = dim_of(dims.operands[0], factor);
  if (use != FactorUse::windowed || slide.window == 0 || d == no_dim) return {};
  const std::int64_t size = a.in[0].shape[index(d)], part = size / parts;
  if (size != windows * slide.stride || windows % parts != 0) return {};
  const Reach reach{slide.low, slide.window - slide.stride - slide.low};
  if (std::max(reach.before, reach.after) > part || reach.before + part + reach.after < 1 ||
      std::min(reach.before, reach.after) <= -part)
    return {};
  return reach;
}

// The mesh axes that split each factor.
class FactorSplits {
 public:
  FactorSplits(const SplitArgs& a, const DimFactors& dims, const PartsByDims& rules)
      : a_(a), dims_(dims), rules_(rules), found_(dims.factors.size()) {
    Ints operands{static_cast<std::int64_t>(rules.first)};
    for (std::size_t i = 0; i < a.in.size(); ++i) {
      own_.push_back(split_of(a, i));
      if (i != rules.first) operands.push_back(static_cast<std::int64_t>(i));
    }
    if (!rules.by_factor) {
      for (const std::int64_t i : operands) {
        for (std::size_t d = 0; d < own_[index(i)].size(); ++d) look(index(i), d);
      }
      return;
    }
    for (std::size_t f = 0; f < found_.size(); ++f) {
      for (const std::int64_t i : operands) {
        const auto d = dim_led_by(dims.operands[index(i)], static_cast<std::int32_t>(f));
        if (d != no_dim) look(index(i), index(d));
      }
    }
  }

  FactorAxes take() { return std::move(found_); }

 private:
  void look(std::size_t operand, std::size_t d) {
    const FactorList& factors = dims_.operands[operand][d];
    if (factors.empty() || !found_[index(factors[0])].empty()) return;
    Axes axes = own_[operand][d];
    const auto is_taken = [&](const std::string& axis) { return has(taken_, axis); };
    if (std::erase_if(axes, is_taken) > 0 && !rules_.some) return;
    if (axes.empty() || !can_split(factors[0], axes)) return;
    taken_.insert(taken_.end(), axes.begin(), axes.end());
    found_[index(factors[0])] = std::move(axes);
  }

  bool can_split(std::int32_t factor, const Axes& axes) const {
    const std::int64_t parts = parts_of(axes, a_.mesh);
    const Factor& own = dims_.at(factor);
    if (own.size % parts != 0) return false;
    if (own.use == FactorUse::parallel) return dim_led_by(dims_.result, factor) != no_dim;
    if (own.use == FactorUse::reduced)
      return !rules_.joins.empty() && (!rules_.alike || is_alike(factor, axes));
    return own.use == FactorUse::windowed && rules_.halos && axes.size() == 1 &&
           reach_of(a_, dims_, factor, parts);
  }

  // Do all operands that have it split it by these axes?
  bool is_alike(std::int32_t factor, const Axes& axes) const {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const std::int32_t d = dim_led_by(dims_.operands[i], factor);
      if (d != no_dim && own_[i][index(d)] != axes) return false;
    }
    return true;
  }

  const SplitArgs& a_;
  const DimFactors& dims_;
  const PartsByDims& rules_;
  std::vector<Split> own_;
  FactorAxes found_;
  Axes taken_;
};

Parts parts_split_as(const SplitArgs& a, const DimFactors& dims, const FactorAxes& axes,
                     std::string_view joins) {
  Parts out{{}, split_as(dims.result, axes), {}, {}, joins};
  for (const ArrayFactors& operand : dims.operands) out.in.push_back(split_as(operand, axes));
  for (std::size_t f = 0; f < axes.size(); ++f) {
    if (dims.factors[f].use == FactorUse::reduced)
      out.open.insert(out.open.end(), axes[f].begin(), axes[f].end());
  }
  out.params = resized(a.op, a.params, part_shape(a.out, out.out, a.mesh));
  return out;
}

}  // namespace

Parts parts_by_dims(const SplitArgs& a, const PartsByDims& rules) {
  const std::optional<DimFactors> dims = dim_factors(a.op, a.params, a.in, a.out);
  if (!dims) return parts_whole(a);
  const FactorAxes axes = FactorSplits(a, *dims, rules).take();
  Parts out = parts_split_as(a, *dims, axes, rules.joins);
  for (std::size_t f = 0; f < axes.size(); ++f) {
    const auto factor = static_cast<std::int32_t>(f);
    if (axes[f].empty() || dims->at(factor).use != FactorUse::windowed) continue;
    const Reach reach = *reach_of(a, *dims, factor, parts_of(axes[f], a.mesh));
    out.halos.push_back(
        {0, index(dim_of(dims->operands[0], factor)), reach.before, reach.after, rules.fill});
  }
  return out;
}

Parts parts_product(const SplitArgs& a) {
  const std::optional<DimFactors> dims = dim_factors(a.op, a.params, a.in, a.out);
  const Split own[] = {split_of(a, 0), split_of(a, 1)};
  const std::size_t larger = a.in[0].size() >= a.in[1].size() ? 0 : 1;
  const auto factor_split_by = [&](std::size_t operand, const std::string& axis) {
    for (std::size_t d = 0; d < own[operand].size(); ++d) {
      if (has(own[operand][d], axis)) return dims->operands[operand][d][0];
    }
    return no_dim;
  };
  const auto is_shared = [&](std::int32_t factor) {
    return dim_of(dims->operands[0], factor) != no_dim &&
           dim_of(dims->operands[1], factor) != no_dim;
  };
  FactorAxes axes(dims->factors.size());
  Axes seen;
  for (const Split& split : own) {
    for (const Axes& names : split) {
      for (const std::string& axis : names) {
        if (has(seen, axis)) continue;
        seen.push_back(axis);
        const std::int32_t factors[] = {factor_split_by(0, axis), factor_split_by(1, axis)};
        // The operand whose dimension stays split.
        std::size_t keeps = factors[0] == no_dim ? 1 : 0;
        if (factors[0] != factors[1] && factors[1 - keeps] != no_dim) {
          const bool shared[] = {is_shared(factors[0]), is_shared(factors[1])};
          // Rows of both: those of the left one are samples more often than not.
          const bool rows =
              !shared[0] && !shared[1] &&
              dim_of(dims->operands[0], factors[0]) == dim_of(dims->operands[1], factors[1]);
          keeps = shared[0] != shared[1] ? (shared[0] ? 1 : 0) : rows ? 0 : larger;
        }
        axes[index(factors[keeps])].push_back(axis);
      }
    }
  }
  return parts_split_as(a, *dims, axes, "psum");
}

Parts parts_of(const SplitArgs& a) { return a.op.parts ? a.op.parts(a) : parts_by_dims(a); }

}  // namespace shardax::ops
