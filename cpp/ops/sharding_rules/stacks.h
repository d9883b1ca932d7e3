// ops/sharding_rules/stacks.h - refusals of split stacks of matrices.
//
// `rank` is that of an element of operand 0, a matrix or a vector; operands have the same
// dimensions before their elements.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// Throws ShardingTypeError where explicit axes split a matrix, or operands differ.
void check_split_stack_of(const Op& op, const Types& in, std::size_t rank);

template <std::size_t rank>
void check_split_stack(const Op& op, const Params&, const Types& in, const Types&) {
  check_split_stack_of(op, in, rank);
}

}  // namespace shardax::ops
