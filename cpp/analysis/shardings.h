// analysis/shardings.h - shardings of results from those of inputs.
//
// Metadata only: which mesh axes split which dimension. Records say how their results are split
// (ops/sharding_rules/sharding_rules.h), programs follow their equations, what is mapped over
// devices is split over these.
#pragma once

#include <utility>

#include "base/errors.h"
#include "ir/op.h"

namespace shardax {

using Shardings = std::vector<ShardingPtr>;  // null: none recorded

// Is it over a mesh with axes that the user asked by name to be explicit?
bool asked_explicit(const ShardingPtr& sharding);
// The sharding that an op gives its result, whatever the operands have; or null.
ShardingPtr given_sharding(const Params& params);
// Is it pmap or shard_map?
bool maps_over_devices(const Op& op, const Params& params);
// Does it take operands from wherever they lie, as pmap does?
bool gathers_operands(const Op& op, const Params& params);
// Has any array a sharding? Otherwise results have none either.
bool any_sharding(const Values& arrays);
// Have results, here or within, shardings whatever the operands have?
bool gives_sharding(const Op& op, const Params& params);
bool gives_sharding(const Equation& eqn);
Shardings shardings_of(const Values& arrays);
void set_shardings(const Values& arrays, const Shardings& shardings);

Shardings propagate(const Op& op, const Params& params, const Types& in_types,
                    const Types& out_types, const Shardings& in);
Shardings propagate(const Program& program, const Shardings& in);
// The same for an op that is run at once. Slices may start anywhere then, as in JAX: the program
// that cuts them knows their sizes only. Over automatic axes, dimensions that they shorten are
// whole.
Shardings propagate_at_once(const Op& op, const Params& params, const Types& in_types,
                            const Types& out_types, const Shardings& in);

// The op inspect_sharding asks for the sharding of its operand.
bool inspects_sharding(const Equation& eqn);
// ... for a callback of this program that takes it in the parts that devices have.
bool splits_callbacks(const Equation& eqn);
struct Inspected {
  FunctionPtr function;  // takes an array of this type and sharding
  Type type;
  ShardingPtr sharding;  // null: it is on one device
};
// All that a program asks for outside of mapped functions, where its inputs are split like this.
std::vector<Inspected> inspected(const Program& program, const Shardings& in);

// Does an array of that sharding stand for a sum over mesh axes?
inline bool is_sum(const ShardingPtr& sharding) { return sharding && !sharding->unreduced.empty(); }
// Over which axes results are still to be summed: the record's rule, or that of its kind.
Sums sums_left(const Op& op, const Types& in);

// The mesh that is current on this thread: over it, results of operands that lie nowhere in
// particular are replicated. Null: none is.
void set_context_mesh(ShardingPtr mesh);
const ShardingPtr& context_mesh();
// Labels such results.
void place_in_context(const Values& results);

// The sharding that a program asks for each input: that of its first sharding_constraint.
Shardings asked_of_inputs(const Program& program);
// A program's results lie on the same devices: those without a sharding are replicated over them.
Shardings replicated_rest(Shardings shardings);
// Gives a result that is split as the first input the spec of that input, with its entries for
// whole dimensions. It does so only for automatic axes, or if there are no others. Other specs end
// at the last dimension that is split.
Shardings as_results_show(Shardings results, const Types& result_types, const Shardings& inputs,
                          const Types& input_types);

}  // namespace shardax
