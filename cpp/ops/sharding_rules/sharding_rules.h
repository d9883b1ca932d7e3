// ops/sharding_rules/sharding_rules.h - shardings of results from those of operands: rules for
// records.
//
// A split is metadata: for each dimension, the mesh axes that divide it.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// The dimensions of an operand; none is split where its sharding is unknown or over another mesh.
Split split_of(const SplitArgs& a, std::size_t operand);

// The number of parts that mesh axes make.
std::int64_t parts_of(const std::vector<std::string>& axes, const Sharding& mesh);

// Clears those that do not come out even.
Split split_evenly(Split split, const SplitArgs& a);

// The result of a rule for which the split of one operand alone counts.
template <class Rule>
auto by_split_of(std::size_t operand, const SplitArgs& a, const Rule& rule) {
  std::vector<ShardingPtr> own(a.in.size());
  own[operand] = a.shardings[operand];
  return rule(SplitArgs{a.op, a.params, a.in, a.out, own, a.mesh});
}

// Each dimension as in the first operand that splits it: the rule of ops whose records describe
// their dimensions (ir/dim_factors.h).
Split split_by_dims(const SplitArgs& a);
// Dimensions that become one are split as the first of them, over explicit axes by the axes of all.
Split split_reshaped(const SplitArgs& a);
// Each dimension as in the first operand that has it: batch dimensions as on the left.
Split split_product(const SplitArgs& a);
// Joined, padded and sliced arrays stay split as their operands are. Over explicit axes that has to
// come out even; over others it has to where arrays leave programs (analysis/shardings.cpp).
Split split_grown(const SplitArgs& a);
// As the param `sharding` says; dimensions that it leaves open stay split as they are, by axes that
// the others do not use.
Split split_constrained(const SplitArgs& a);
// As operand 0, where the result has its shape.
Split split_same_shape(const SplitArgs& a);
// Dimensions of the size that operand 0 has there: devices exchange parts of the others.
Split split_exchanged(const SplitArgs& a);

}  // namespace shardax::ops
