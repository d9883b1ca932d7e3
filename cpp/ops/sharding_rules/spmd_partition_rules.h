// ops/sharding_rules/spmd_partition_rules.h - ops on the parts of one device: rules for records.
//
// Operands come with the splits that they have now; a rule says which it takes, which its results
// have, and what the params are on parts. What a device lacks it gets before, by messages
// (analysis/partition.h): a rule that asks for what is there costs none.
#pragma once

#include <optional>

#include "ir/dim_factors.h"
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
// An array's split, of the mesh axes that split each factor.
Split split_as(const ArrayFactors& array, const std::vector<std::vector<std::string>>& axes);

// A window that slides along one dimension.
struct SlidingWindow {
  std::int64_t operand, result;      // sizes
  std::int64_t window, stride, low;  // the window with its dilation; padding before the operand
};
// The elements before and after a part of the operand that its part of the result needs; nothing
// where parts of the one do not go with parts of the other.
struct WindowReach {
  std::int64_t before, after;
};
std::optional<WindowReach> window_reach(const SlidingWindow& window, std::int64_t parts);

// What the record says.
Parts parts_of(const SplitArgs& a);

}  // namespace shardax::ops
