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
// Operands as the result, which is split as the record's rule for splits says.
Parts parts_elementwise(const SplitArgs& a);
// As operand 0 is split, but for dimensions that the op works along; the others are whole.
Parts parts_along(const SplitArgs& a, const Ints& dims);
// Of reductions: dimensions that go may be split where a collective joins what devices have.
Parts parts_reduced(const SplitArgs& a, std::string_view joins);
Parts parts_broadcast(const SplitArgs& a);
Parts parts_reshaped(const SplitArgs& a);
Parts parts_transposed(const SplitArgs& a);
Parts parts_squeezed(const SplitArgs& a);
Parts parts_sliced(const SplitArgs& a);
// Of joined and padded arrays: dimensions of the same size in all.
Parts parts_grown(const SplitArgs& a);
// What one axis of the mesh splits in both operands, or contracts, stays; of two free dimensions
// that it splits, that of the larger operand.
Parts parts_product(const SplitArgs& a);
// Windows of the operand's size along a dimension are split as it is.
Parts parts_of_window(const SplitArgs& a);

// What the record says, or its kind.
Parts parts_of(const SplitArgs& a);

}  // namespace shardax::ops
