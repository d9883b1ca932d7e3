// ops/sharding_rules/spmd_partition_rules.h - ops on the parts of one device: rules for records.
//
// Operands come with the splits that they have now; a rule says which it takes, which its results
// have, and what the params are on parts. What a device lacks it gets before, by messages
// (analysis/partition.h): a rule that asks for what is there costs none.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// The size of a device's part of an array.
Shape part_shape(const Type& whole, const Split& split, const Sharding& mesh);

// Every operand whole, and so is the result.
Parts parts_whole(const SplitArgs& a);
// By the record's description of dimensions (ir/dim_factors.h): those whose parts give parts of
// results stay split, and so do reduced ones where a collective joins what devices have.
Parts parts_by_dims(const SplitArgs& a, std::string_view joins);
// What one axis of the mesh splits in both operands, or contracts, stays; of two free dimensions
// that it splits, that of the larger operand.
Parts parts_product(const SplitArgs& a);
// What the record says.
Parts parts_of(const SplitArgs& a);

}  // namespace shardax::ops
