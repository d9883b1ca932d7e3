// ops/sharding_rules/sharding_rules.cpp - dimensions followed from operands to results.
#include "ops/sharding_rules/sharding_rules.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/index.h"
#include "base/lists.h"

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

Split split_elementwise(const SplitArgs& a) {
  Split split(a.out.rank());
  for (std::size_t i = 0; i < a.in.size(); ++i) {
    if (a.in[i].rank() != a.out.rank()) continue;
    const Split own = split_of(a, i);
    for (std::size_t d = 0; d < split.size(); ++d) {
      const bool free = std::none_of(own[d].begin(), own[d].end(),
                                     [&](const std::string& axis) { return uses(split, axis); });
      const bool repeated = a.in[i].shape[d] == 1 && a.out.shape[d] != 1;
      if (split[d].empty() && free && !repeated) split[d] = own[d];
    }
  }
  return split;
}

Split split_reduced(const SplitArgs& a) {
  const Split own = split_of(a, 0);
  Split kept;
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (!has(a.params.ints(param::axes), static_cast<std::int64_t>(d))) kept.push_back(own[d]);
  }
  return kept;
}

// Where the result is a view of a dense operand, a dimension of the same size and stride is the
// same dimension.
Split split_view(const SplitArgs& a) {
  const Split own = split_of(a, 0);
  Split found(a.out.rank());
  const Type& in = a.in[0];
  const Shape strides = row_major_strides(in.shape);
  ViewLayout layout;
  if (!a.op.view || !a.op.view(a.params, in, strides, a.out, layout)) return found;
  for (std::size_t d = 0; d < found.size(); ++d) {
    for (std::size_t from = 0; from < own.size(); ++from) {
      if (in.shape[from] > 1 && a.out.shape[d] == in.shape[from] &&
          std::abs(layout.strides[d]) == strides[from]) {
        found[d] = own[from];
      }
    }
  }
  return found;
}

std::vector<ReshapedRun> reshaped_runs(const Shape& in, const Shape& out) {
  std::vector<ReshapedRun> runs;
  std::size_t i = 0, o = 0;
  while (i < in.size() && o < out.size()) {
    ReshapedRun run{i, i + 1, o, o + 1};
    std::int64_t left = in[i++], right = out[o++];
    while (left != right) {
      if (left < right && i < in.size()) {
        left *= in[i++];
      } else if (o < out.size()) {
        right *= out[o++];
      } else {
        return runs;
      }
    }
    run.in_end = i;
    run.out_end = o;
    runs.push_back(run);
  }
  return runs;
}

namespace {

// The axes that split one dimension, handed out to the dimensions that it becomes: each takes as
// many as divide it. Nothing where they do not come out even.
std::optional<Split> handed_out(const std::vector<std::string>& axes, const Shape& shape,
                                const ReshapedRun& run, const Sharding& mesh) {
  Split found(run.out_end - run.out);
  std::size_t next = 0;
  for (std::size_t d = 0; d < found.size(); ++d) {
    std::int64_t left = shape[run.out + d];
    for (; left > 1 && next < axes.size(); ++next) {
      const std::int64_t parts = parts_of({axes[next]}, mesh);
      if (left % parts != 0) return {};
      left /= parts;
      found[d].push_back(axes[next]);
    }
  }
  if (next < axes.size()) return {};
  return found;
}

}  // namespace

// Over explicit axes dimensions that become one are split by the axes of all.
Split split_reshaped(const SplitArgs& a) {
  const Split own = split_of(a, 0);
  const Shape &in = a.in[0].shape, &out = a.out.shape;
  Split found(out.size());
  const bool is_explicit = a.mesh.is_explicit();
  const auto longer = [](const Shape& shape, std::size_t from, std::size_t end) {
    while (from + 1 < end && shape[from] == 1) ++from;
    return from;
  };
  for (const ReshapedRun& run : reshaped_runs(in, out)) {
    const std::size_t from = longer(in, run.in, run.in_end), to = longer(out, run.out, run.out_end);
    if (is_explicit && run.out_end == run.out + 1) {
      for (std::size_t d = run.in; d < run.in_end; ++d)
        found[to].insert(found[to].end(), own[d].begin(), own[d].end());
      continue;
    }
    const auto parts = is_explicit && run.in_end == run.in + 1
                           ? handed_out(own[from], out, run, a.mesh)
                           : std::optional<Split>();
    if (parts) {
      std::copy(parts->begin(), parts->end(), found.begin() + static_cast<std::ptrdiff_t>(run.out));
    } else if (fits(own[from], out[to], a.mesh)) {
      found[to] = own[from];
    }
  }
  return found;
}

Split split_product(const SplitArgs& a) {
  Split found;
  const auto add = [&](std::size_t operand, std::int64_t dimension) {
    found.emplace_back();
    const Split own = split_of(a, operand);
    for (const std::string& axis : own[index(dimension)]) {
      if (!uses(found, axis)) found.back().push_back(axis);
    }
  };
  const Ints contracted[] = {a.params.ints(param::lhs_contract),
                             a.params.ints(param::rhs_contract)};
  const Ints batch[] = {a.params.ints(param::lhs_batch), a.params.ints(param::rhs_batch)};
  for (const std::int64_t d : batch[0]) add(0, d);
  for (const std::size_t operand : {0, 1}) {
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(a.in[operand].rank()); ++d) {
      if (!has(contracted[operand], d) && !has(batch[operand], d)) add(operand, d);
    }
  }
  return found;
}

Split split_leading(const SplitArgs& a) {
  Split split = split_of(a, 0);
  split.resize(std::min(split.size(), a.out.rank()));
  split.resize(a.out.rank());
  return split;
}

Split split_evenly(Split split, const SplitArgs& a) {
  for (std::size_t d = 0; d < split.size(); ++d) {
    if (!fits(split[d], a.out.shape[d], a.mesh)) split[d].clear();
  }
  return split;
}

Split split_grown(const SplitArgs& a) {
  Split split = split_elementwise(a);
  return a.mesh.is_explicit() ? split_evenly(std::move(split), a) : split;
}

// Where types show some of the mesh's axes, they say nothing of the others, which go on splitting.
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
