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

Shape part_shape(const Type& whole, const Split& split, const Sharding& mesh) {
  Shape shape = whole.shape;
  for (std::size_t d = 0; d < split.size(); ++d) shape[d] /= parts_of(split[d], mesh);
  return shape;
}

Split split_as(const ArrayFactors& array, const std::vector<Axes>& axes) {
  Split split;
  for (const FactorList& dim : array) split.push_back(dim.empty() ? Axes() : axes[index(dim[0])]);
  return split;
}

std::optional<WindowReach> window_reach(const SlidingWindow& w, std::int64_t parts) {
  if (w.operand != w.result * w.stride || w.result % parts != 0) return {};
  const std::int64_t part = w.operand / parts;
  const WindowReach reach{w.low, w.window - w.stride - w.low};
  if (std::max(reach.before, reach.after) > part || reach.before + part + reach.after < 1 ||
      std::min(reach.before, reach.after) <= -part)
    return {};
  return reach;
}

Parts parts_whole(const SplitArgs& a) { return {all_whole(a.in), Split(a.out.rank()), a.params}; }

namespace {

// The mesh axes that split each factor, as the first operand that splits it does. A mesh axis
// splits one factor.
std::vector<Axes> axes_of_factors(const SplitArgs& a, const DimFactors& dims, bool joins) {
  std::vector<Axes> found(dims.factors.size());
  Axes taken;
  const auto can_split = [&](std::int32_t factor, const Axes& axes) {
    const auto [use, size] = dims.at(factor);
    const bool kept = use == FactorUse::parallel && dim_led_by(dims.result, factor) != no_dim;
    return (kept || (joins && use == FactorUse::reduced)) && found[index(factor)].empty() &&
           size % parts_of(axes, a.mesh) == 0 &&
           std::ranges::none_of(axes, [&](const std::string& axis) { return has(taken, axis); });
  };
  for (std::size_t i = 0; i < a.in.size(); ++i) {
    const Split own = split_of(a, i);
    for (std::size_t d = 0; d < own.size(); ++d) {
      const FactorList& factors = dims.operands[i][d];
      if (own[d].empty() || factors.empty() || !can_split(factors[0], own[d])) continue;
      found[index(factors[0])] = own[d];
      taken.insert(taken.end(), own[d].begin(), own[d].end());
    }
  }
  return found;
}

Parts parts_split_as(const SplitArgs& a, const DimFactors& dims, const std::vector<Axes>& axes,
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

Parts parts_by_dims(const SplitArgs& a, std::string_view joins) {
  const std::optional<DimFactors> dims = dim_factors(a.op, a.params, a.in, a.out);
  if (!dims) return parts_whole(a);
  return parts_split_as(a, *dims, axes_of_factors(a, *dims, !joins.empty()), joins);
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
  std::vector<Axes> axes(dims->factors.size());
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

Parts parts_of(const SplitArgs& a) {
  if (a.op.parts) return a.op.parts(a);
  return parts_by_dims(a, {});
}

}  // namespace shardax::ops
