// ops/sharding_rules/sharding_rules.cpp - dimensions followed from operands to results.
#include "ops/sharding_rules/sharding_rules.h"

#include <algorithm>
#include <optional>

#include "base/index.h"
#include "base/lists.h"
#include "ir/dim_factors.h"

namespace shardax::ops {
namespace {

bool uses(const Split& spec, const std::string& axis) {
  return std::any_of(spec.begin(), spec.end(), [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), axis) != names.end();
  });
}

bool fits(const std::vector<std::string>& axes, std::int64_t extent, const Sharding& mesh) {
  return extent % parts_of(axes, mesh) == 0;
}

}  // namespace

std::int64_t parts_of(const std::vector<std::string>& axes, const Sharding& mesh) {
  std::int64_t parts = 1;
  for (std::size_t i = 0; i < mesh.mesh_axes.size(); ++i)
    parts *= has(axes, mesh.mesh_axes[i]) ? mesh.mesh_shape[i] : 1;
  return parts;
}

Split split_of(const SplitArgs& a, std::size_t operand) {
  const ShardingPtr& own = a.shardings[operand];
  Split split = own && same_mesh(*own, a.mesh) ? own->spec : Split();
  split.resize(a.in[operand].rank());
  return split;
}

namespace {

bool uses_any(const Split& spec, const std::vector<std::string>& axes) {
  return std::ranges::any_of(axes, [&](const std::string& axis) { return uses(spec, axis); });
}

}  // namespace

Split split_by_dims(const SplitArgs& a) {
  Split split(a.out.rank());
  const std::optional<DimFactors> dims = dim_factors(a.op, a.params, a.in, a.out);
  for (std::size_t i = 0; dims && i < a.in.size(); ++i) {
    const Split own = split_of(a, i);
    for (std::size_t d = 0; d < own.size(); ++d) {
      const FactorList& factors = dims->operands[i][d];
      if (own[d].empty() || factors.empty()) continue;
      const std::int32_t to = dim_led_by(dims->result, factors[0]);
      if (to != no_dim && split[index(to)].empty() && !uses_any(split, own[d]))
        split[index(to)] = own[d];
    }
  }
  return split;
}

namespace {

// Axes that split one dimension, handed out to those that it becomes: each takes as many as divide
// it. False where they do not come out even.
bool hand_out(const std::vector<std::string>& axes, const SplitArgs& a, const Ints& dims,
              Split& split) {
  Split found(dims.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    std::int64_t left = a.out.shape[index(dims[k])];
    for (; left > 1 && next < axes.size(); ++next) {
      const std::int64_t parts = parts_of({axes[next]}, a.mesh);
      if (left % parts != 0) return false;
      left /= parts;
      found[k].push_back(axes[next]);
    }
  }
  if (next < axes.size()) return false;
  for (std::size_t k = 0; k < found.size(); ++k) split[index(dims[k])] = std::move(found[k]);
  return true;
}

// The dimensions that these factors are, one each; nothing where a factor is no dimension.
std::optional<Ints> dims_of(const ArrayFactors& array, const FactorList& factors) {
  Ints dims;
  for (const std::int32_t factor : factors) {
    dims.push_back(dim_of(array, factor));
    if (dims.back() == no_dim) return {};
  }
  return dims;
}

}  // namespace

Split split_reshaped(const SplitArgs& a) {
  Split split = split_evenly(split_by_dims(a), a);
  const std::optional<DimFactors> dims = dim_factors(a.op, a.params, a.in, a.out);
  if (!a.mesh.is_explicit() || !dims) return split;
  const Split own = split_of(a, 0);
  const ArrayFactors& in = dims->operands[0];
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (const auto parts = dims_of(dims->result, in[d])) hand_out(own[d], a, *parts, split);
  }
  for (std::size_t d = 0; d < split.size(); ++d) {
    const auto joined = dims_of(in, dims->result[d]);
    if (!joined || joined->empty()) continue;
    split[d].clear();
    for (const std::int64_t part : *joined)
      split[d].insert(split[d].end(), own[index(part)].begin(), own[index(part)].end());
  }
  return split;
}

Split split_product(const SplitArgs& a) {
  const std::optional<DimFactors> dims = dim_factors(a.op, a.params, a.in, a.out);
  const Split own[] = {split_of(a, 0), split_of(a, 1)};
  Split found;
  for (const FactorList& factors : dims->result) {
    const std::int32_t left = dim_of(dims->operands[0], factors[0]);
    const std::int32_t right = dim_of(dims->operands[1], factors[0]);
    found.emplace_back();
    for (const std::string& axis : left != no_dim ? own[0][index(left)] : own[1][index(right)]) {
      if (!uses(found, axis)) found.back().push_back(axis);
    }
  }
  return found;
}

Split split_evenly(Split split, const SplitArgs& a) {
  for (std::size_t d = 0; d < split.size(); ++d) {
    if (!fits(split[d], a.out.shape[d], a.mesh)) split[d].clear();
  }
  return split;
}

Split split_grown(const SplitArgs& a) {
  Split split = split_by_dims(a);
  return a.mesh.is_explicit() ? split_evenly(std::move(split), a) : split;
}

// Types may show only some of the mesh's axes; the others go on splitting.
void keep_automatic(Split& split, const Split& own, const Sharding& mesh) {
  for (std::size_t d = 0; d < split.size(); ++d) {
    for (const std::string& axis : own[d]) {
      if (has(mesh.mesh_axes, axis) && !mesh.is_explicit(axis) && !uses(split, axis))
        split[d].push_back(axis);
    }
  }
}

Split split_constrained(const SplitArgs& a) {
  const Sharding& given = *a.params.get(param::sharding);
  Split split = given.spec;
  split.resize(a.out.rank());
  const Split own = split_of(a, 0);
  if (given.is_explicit()) keep_automatic(split, own, given);
  for (const std::int64_t d : a.params.ints(param::unconstrained_dims)) {
    const auto at = index(d);
    const bool free = std::none_of(own[at].begin(), own[at].end(),
                                   [&](const std::string& axis) { return uses(split, axis); });
    if (free) split[at] = own[at];
  }
  return split;
}

Split split_same_shape(const SplitArgs& a) {
  const bool same = !a.in.empty() && a.in[0].shape == a.out.shape;
  return same ? split_of(a, 0) : Split(a.out.rank());
}

Split split_exchanged(const SplitArgs& a) {
  Split out(a.out.rank());
  if (a.in.empty() || a.in[0].rank() != a.out.rank()) return out;
  const Split own = split_of(a, 0);
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (a.in[0].shape[d] == a.out.shape[d]) out[d] = own[d];
  }
  return out;
}

}  // namespace shardax::ops
