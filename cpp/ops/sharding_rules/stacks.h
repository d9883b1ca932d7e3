// ops/sharding_rules/stacks.h - sharding rules for stacks of matrices.
//
// Dimensions of the stack stay split, matrices are whole. `rank` is that of an element of operand
// 0, a matrix or a vector; operands and results have the same dimensions before their elements.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

Split split_stack_of(const SplitArgs& a, std::size_t rank);
Parts parts_stack_of(const SplitArgs& a, std::size_t rank);
// Throws ShardingTypeError where explicit axes split a matrix, or operands differ.
void check_split_stack_of(const Op& op, const Types& in, std::size_t rank);

template <std::size_t rank>
Split split_stack(const SplitArgs& a) {
  return split_stack_of(a, rank);
}
template <std::size_t rank>
Parts parts_stack(const SplitArgs& a) {
  return parts_stack_of(a, rank);
}
template <std::size_t rank>
void check_split_stack(const Op& op, const Params&, const Types& in, const Types&) {
  check_split_stack_of(op, in, rank);
}

}  // namespace shardax::ops
