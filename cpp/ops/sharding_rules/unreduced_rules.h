// ops/sharding_rules/unreduced_rules.h - unreduced sums from operands to results: rules for
// records.
//
// An array may be unreduced over explicit axes: it stands for the sum of the devices' values. Ops
// that are linear in it give an unreduced result, others refuse it. An array that is reduced over
// axes is the same on all of their devices, and its cotangents are unreduced. Rules for records.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// Refuses operands with sums to be done.
Sums no_sums(const Op& op, const Types& in);
// With several operands, none is unreduced; those that are reduced agree.
Sums sums_elementwise(const Op& op, const Types& in);
// As operand 0 is: for ops that are linear in it alone.
Sums sums_kept(const Op& op, const Types& in);
// As the cases are, of which operand 0 selects.
Sums sums_selected(const Op& op, const Types& in);
// All operands are unreduced over the same axes: for ops that are linear in all of them together.
Sums sums_added(const Op& op, const Types& in);
// The same of scattered sums, but for the indices.
Sums sums_scattered(const Op& op, const Types& in);
// One factor is unreduced where the other is reduced, and the product is unreduced.
Sums sums_multiplied(const Op& op, const Types& in);
// The operands of a product are not unreduced.
Sums sums_contracted(const Op& op, const Types& in);

}  // namespace shardax::ops
