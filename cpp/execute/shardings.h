// execute/shardings.h - how results are labelled with shardings, given those of the inputs.
//
// Metadata only: which mesh axes split which dimension. Elementwise ops keep their operands' specs,
// reductions, products and layout ops those of the dimensions that survive whole, other ops that of
// an operand of the result's shape, and programs follow their equations; a pmap splits its results
// over its own devices; the rest counts as replicated over the mesh.
#pragma once

#include "ir/op.h"

namespace shardax {

using Shardings = std::vector<ShardingPtr>;  // null: none recorded

// Whether any array has a sharding: otherwise results have none either.
bool any_sharding(const Values& arrays);
Shardings shardings_of(const Values& arrays);
void set_shardings(const Values& arrays, const Shardings& shardings);

Shardings propagate(const Op& op, const Params& params, const Types& in_types,
                    const Types& out_types, const Shardings& in);
Shardings propagate(const Program& program, const Shardings& in);

}  // namespace shardax
