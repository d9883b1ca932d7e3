// ops/param_checks.h - checks of params that type rules share.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/errors.h"
#include "base/index.h"
#include "ir/op.h"

namespace shardax::ops {

inline bool within(std::int64_t dim, std::size_t rank) {
  return dim >= 0 && dim < static_cast<std::int64_t>(rank);
}

// The param, a dimension of an array of `rank` dimensions.
inline std::size_t checked_axis(const Op& op, const Params& params, ParamName name,
                                std::size_t rank) {
  const std::int64_t dim = params.get<std::int64_t>(name);
  if (!within(dim, rank)) {
    value_error(op.name, ": ", name, " ", dim, " is no dimension of an array of ", rank, ".");
  }
  return index(dim);
}

// `dims`, which the user calls `name`, are dimensions of an array of `rank`, each once.
inline void check_dims(const Op& op, std::string_view name, const Ints& dims, std::size_t rank) {
  for (auto d = dims.begin(); d != dims.end(); ++d) {
    if (within(*d, rank) && std::find(dims.begin(), d, *d) == d) continue;
    value_error(op.name, ": ", name, " ", to_string(dims), " are not distinct dimensions of an ",
                "array of ", rank, ".");
  }
}

// The sizes of a shape are not negative.
inline void check_sizes(const Op& op, std::string_view name, const Ints& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n < 0; }))
    value_error(op.name, ": ", name, " ", to_string(shape), " has a negative size.");
}

// Positions along a dimension of `extent` elements fit the dtype. Narrower dtypes than the default
// one are the user's own choice.
inline void check_places(std::string_view op, std::int64_t extent, DType dtype) {
  const std::int64_t most = is_signed_integer(dtype) ? INT32_MAX : UINT32_MAX;
  if (itemsize(dtype) != 4 || extent <= most) return;
  value_error(op, ": positions along a dimension of ", extent, " elements do not fit ", name(dtype),
              ", which ends at ", most,
              ". Enable x64 with jax.config.update('jax_enable_x64', True).");
}

// The param is a sharding, of at most `rank` dimensions.
inline const ShardingPtr& checked_sharding(const Op& op, const Params& params, ParamName name,
                                           std::size_t rank) {
  const auto& sharding = params.get<ShardingPtr>(name);
  if (!sharding || sharding->spec.size() > rank) {
    value_error(op.name, ": ", name, " is no sharding of an array of ", rank, " dimensions.");
  }
  return sharding;
}

}  // namespace shardax::ops
