// callables/transforms/shard_map_params.h - the params of shard_map as users see them: mesh and
// specs.
#pragma once

#include <pybind11/cast.h>

#include <string_view>

#include "ir/params.h"

namespace shardax::callables {

// Adds them to those that the op is bound with; nothing for other ops.
void add_specs(const Params& params, pybind11::dict& out);
// Is it a name by which they are shown, and not bound?
bool is_shown_only(std::string_view name);

}  // namespace shardax::callables
