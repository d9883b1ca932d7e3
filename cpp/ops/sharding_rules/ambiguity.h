// ops/sharding_rules/ambiguity.h - operands whose explicit axes leave a sharding ambiguous.
//
// A mesh of explicit axes that the user named raises ShardingTypeError there, as in JAX. A mesh
// that is explicit by default has an answer.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

void check_split_elementwise(const Op& op, const Params& params, const Types& in, const Types& out);
void check_split_selected(const Op& op, const Params& params, const Types& in, const Types& out);
void check_split_product(const Op& op, const Params& params, const Types& in, const Types& out);
void check_split_reshaped(const Op& op, const Params& params, const Types& in, const Types& out);
void check_split_joined(const Op& op, const Params& params, const Types& in, const Types& out);
// If the user leaves sums over `axes` to do, these split the summed dimensions in both operands.
void check_sums_of_product(const Params& params, const Types& in,
                           const std::vector<std::string>& axes);
void check_sums_of_reduction(const Params& params, const Types& in,
                             const std::vector<std::string>& axes);
// Dimensions of operand 0 that change size come out even; `doing`: "slicing".
void check_comes_out_even(std::string_view doing, const Type& in, const Type& out);
// Checks x[...] that runs at once. None of the dimensions that it shortens is split.
void check_split_indexed(const Type& in, const Ints& start, const Ints& limit, const Ints& step);
// Windows are whole along split dimensions, and split as the updates; so are batches.
void check_split_scattered(const Op& op, const Params& params, const Types& in, const Types& out);
// An update that replaces a window is split as the operand.
void check_split_replaced(const Op& op, const Params& params, const Types& in, const Types& out);
// Checks top_k along `axis`.
void check_split_largest(const Type& in, std::int64_t axis);
void check_split_sorted(const Op& op, const Params& params, const Types& in, const Types& out);
void check_split_cumulative(const Op& op, const Params& params, const Types& in, const Types& out);

}  // namespace shardax::ops
