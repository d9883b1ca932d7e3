// ops/sharding_rules/spmd_partition_rules.cpp - splits that operands are to have, and params of
// parts.
#include "ops/sharding_rules/spmd_partition_rules.h"

#include "base/index.h"
#include "base/lists.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax::ops {
namespace {

using Axes = std::vector<std::string>;

// Every axis of the mesh splits one dimension: the first.
Split once(Split split) {
  Axes seen;
  for (Axes& axes : split) {
    const auto taken = [&](const std::string& axis) { return has(seen, axis); };
    axes.erase(std::remove_if(axes.begin(), axes.end(), taken), axes.end());
    seen.insert(seen.end(), axes.begin(), axes.end());
  }
  return split;
}

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

Parts parts_whole(const SplitArgs& a) { return {all_whole(a.in), Split(a.out.rank()), a.params}; }

Parts parts_elementwise(const SplitArgs& a) {
  Parts out{{}, once(split_evenly(split_elementwise(a), a)), a.params};
  for (const Type& type : a.in) {
    Split own(type.rank());
    for (std::size_t d = 0; d < own.size(); ++d) {
      if (type.shape[d] == a.out.shape[d]) own[d] = out.out[d];
    }
    out.in.push_back(std::move(own));
  }
  return out;
}

Parts parts_along(const SplitArgs& a, const Ints& dims) {
  Split own = split_of(a, 0);
  for (const std::int64_t d : dims) own[index(d)].clear();
  Parts out{all_whole(a.in), own, a.params};
  for (std::size_t i = 0; i < a.in.size(); ++i) {
    if (a.in[i].rank() == own.size()) out.in[i] = own;
  }
  return out;
}

Parts parts_reduced(const SplitArgs& a, std::string_view joins) {
  Parts out{{split_of(a, 0)}, {}, a.params, {}, joins};
  const Ints& axes = a.params.ints(param::axes);
  for (std::size_t d = 0; d < out.in[0].size(); ++d) {
    Axes& own = out.in[0][d];
    if (!has(axes, static_cast<std::int64_t>(d))) {
      out.out.push_back(own);
    } else if (joins.empty()) {
      own.clear();
    } else {
      out.open.insert(out.open.end(), own.begin(), own.end());
    }
  }
  return out;
}

Parts parts_broadcast(const SplitArgs& a) {
  Parts out{{split_of(a, 0)}, Split(a.out.rank()), a.params};
  const Ints& dims = a.params.ints(param::broadcast_dimensions);
  for (std::size_t i = 0; i < dims.size(); ++i) out.out[index(dims[i])] = out.in[0][i];
  out.params.set("shape", part_shape(a.out, out.out, a.mesh));
  return out;
}

Parts parts_reshaped(const SplitArgs& a) {
  Parts out{{Split(a.in[0].rank())}, Split(a.out.rank()), a.params};
  const Split own = split_of(a, 0);
  const auto first = [](const Shape& shape, std::size_t from, std::size_t end) {
    while (from + 1 < end && shape[from] == 1) ++from;
    return from;
  };
  for (const ReshapedRun& run : reshaped_runs(a.in[0].shape, a.out.shape)) {
    const std::size_t from = first(a.in[0].shape, run.in, run.in_end);
    const std::size_t to = first(a.out.shape, run.out, run.out_end);
    if (a.out.shape[to] % parts_of(own[from], a.mesh) == 0)
      out.in[0][from] = out.out[to] = own[from];
  }
  out.params.set("new_sizes", part_shape(a.out, out.out, a.mesh));
  return out;
}

Parts parts_transposed(const SplitArgs& a) {
  Parts out{{split_of(a, 0)}, {}, a.params};
  for (const std::int64_t d : a.params.ints(param::permutation))
    out.out.push_back(out.in[0][index(d)]);
  return out;
}

Parts parts_squeezed(const SplitArgs& a) {
  Parts out{{split_of(a, 0)}, {}, a.params};
  for (std::size_t d = 0; d < out.in[0].size(); ++d) {
    if (!has(a.params.ints(param::dimensions), static_cast<std::int64_t>(d)))
      out.out.push_back(out.in[0][d]);
  }
  return out;
}

Parts parts_sliced(const SplitArgs& a) {
  Ints cut;
  for (std::size_t d = 0; d < a.in[0].rank(); ++d) {
    if (a.in[0].shape[d] != a.out.shape[d]) cut.push_back(static_cast<std::int64_t>(d));
  }
  Parts out = parts_along(a, cut);
  Ints limit = a.params.ints(param::limit_indices);
  const Shape part = part_shape(a.out, out.out, a.mesh);
  for (std::size_t d = 0; d < part.size(); ++d) {
    if (!out.out[d].empty()) limit[d] = part[d];
  }
  out.params.set("limit_indices", limit);
  return out;
}

Parts parts_grown(const SplitArgs& a) {
  Parts out = parts_elementwise(a);
  for (std::size_t d = 0; d < out.out.size(); ++d) {
    const bool kept = std::all_of(a.in.begin(), a.in.end(), [&](const Type& type) {
      return type.rank() == 0 || type.shape[d] == a.out.shape[d];
    });
    if (kept) continue;
    out.out[d].clear();
    for (Split& own : out.in) {
      if (!own.empty()) own[d].clear();
    }
  }
  return out;
}

namespace {

// Where a mesh axis splits an operand of a product.
struct Place {
  enum class Kind { none, free, batch, contracted } kind = Kind::none;
  std::size_t position = 0;  // among the batch or contracted dimensions, or of the operand

  friend bool operator==(const Place&, const Place&) = default;
};

Place place_of(const Split& own, const std::string& axis, const Ints& contract, const Ints& batch) {
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (!has(own[d], axis)) continue;
    for (std::size_t k = 0; k < contract.size(); ++k) {
      if (index(contract[k]) == d) return {Place::Kind::contracted, k};
    }
    for (std::size_t k = 0; k < batch.size(); ++k) {
      if (index(batch[k]) == d) return {Place::Kind::batch, k};
    }
    return {Place::Kind::free, d};
  }
  return {};
}

}  // namespace

Parts parts_product(const SplitArgs& a) {
  const Ints contract[] = {a.params.ints(param::lhs_contract), a.params.ints(param::rhs_contract)};
  const Ints batch[] = {a.params.ints(param::lhs_batch), a.params.ints(param::rhs_batch)};
  const Split own[] = {split_of(a, 0), split_of(a, 1)};
  Parts out{all_whole(a.in), {}, a.params, {}, "psum"};
  const bool left_is_larger = a.in[0].size() >= a.in[1].size();
  Axes axes;  // in the order in which they split dimensions now
  for (const Split& split : own) {
    for (const Axes& names : split) {
      for (const std::string& axis : names) {
        if (!has(axes, axis)) axes.push_back(axis);
      }
    }
  }
  for (const std::string& axis : axes) {
    const Place places[] = {place_of(own[0], axis, contract[0], batch[0]),
                            place_of(own[1], axis, contract[1], batch[1])};
    // The operand whose place it keeps; the other follows, or has what it splits whole.
    std::size_t keeps = places[0].kind == Place::Kind::none ? 1 : 0;
    if (places[1 - keeps].kind != Place::Kind::none && !(places[0] == places[1])) {
      const bool free[] = {places[0].kind == Place::Kind::free,
                           places[1].kind == Place::Kind::free};
      keeps = free[0] != free[1] ? (free[0] ? 0 : 1) : (left_is_larger ? 0 : 1);
    }
    const Place& place = places[keeps];
    switch (place.kind) {
      case Place::Kind::none: break;
      case Place::Kind::free: out.in[keeps][place.position].push_back(axis); break;
      case Place::Kind::batch:
        for (const std::size_t i : {0, 1})
          out.in[i][index(batch[i][place.position])].push_back(axis);
        break;
      case Place::Kind::contracted:
        for (const std::size_t i : {0, 1})
          out.in[i][index(contract[i][place.position])].push_back(axis);
        out.open.push_back(axis);
        break;
    }
  }
  for (const std::int64_t d : batch[0]) out.out.push_back(out.in[0][index(d)]);
  for (const std::size_t i : {0, 1}) {
    for (std::size_t d = 0; d < out.in[i].size(); ++d) {
      const auto dim = static_cast<std::int64_t>(d);
      if (!has(contract[i], dim) && !has(batch[i], dim)) out.out.push_back(out.in[i][d]);
    }
  }
  return out;
}

Parts parts_of_window(const SplitArgs& a) {
  Ints cut;
  const Shape& window = a.params.has("slice_sizes") ? a.out.shape : a.in[1].shape;
  for (std::size_t d = 0; d < a.in[0].rank(); ++d) {
    if (a.in[0].shape[d] != window[d]) cut.push_back(static_cast<std::int64_t>(d));
  }
  Parts out = parts_along(a, cut);
  if (a.params.has("slice_sizes"))
    out.params.set("slice_sizes", part_shape(a.out, out.out, a.mesh));
  return out;
}

Parts parts_of(const SplitArgs& a) {
  if (a.op.parts) return a.op.parts(a);
  switch (a.op.kind) {
    case Kind::elementwise: return parts_elementwise(a);
    case Kind::reduction: return parts_reduced(a, {});
    default: return parts_whole(a);
  }
}

}  // namespace shardax::ops
