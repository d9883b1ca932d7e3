// ops/ops.h - the ops as functions on Values, for rules, transformations and compositions.
//
// Each binds one op. Elementwise ones take operands of equal shape and dtype, or rank 0 beside any
// shape. No promotion happens here (see numpy/promote.h).
#pragma once

#include "trace/trace.h"

namespace shardax::ops {

// Constants. `like` gives dtype and shape; a scalar is broadcast (a view).
Value scalar(DType dtype, double value, bool weak = false);
Value full(const Type& type, double value);
Value full_like(const Value& like, double value);
Value zeros(const Type& type);
Value iota(DType dtype, const Shape& shape, std::int64_t dimension);

// Elementwise.
Value add(const Value& a, const Value& b);
Value sub(const Value& a, const Value& b);
Value mul(const Value& a, const Value& b);
Value div(const Value& a, const Value& b);
Value neg(const Value& a);
Value max(const Value& a, const Value& b);
Value min(const Value& a, const Value& b);
Value eq(const Value& a, const Value& b);
Value ne(const Value& a, const Value& b);
Value lt(const Value& a, const Value& b);
Value gt(const Value& a, const Value& b);
Value ge(const Value& a, const Value& b);
Value logical_and(const Value& a, const Value& b);
Value logical_or(const Value& a, const Value& b);
Value logical_not(const Value& a);
// cases[which]; `which` is bool (two cases: false, true) or int32.
Value select_n(const Value& which, const Values& cases);
inline Value where(const Value& condition, const Value& yes, const Value& no) {
  return select_n(condition, {no, yes});
}
Value integer_pow(const Value& a, std::int64_t exponent);
Value convert(const Value& a, DType dtype, bool weak = false);
// Any elementwise op by record name, for rules of other families.
Value unary(std::string_view op, const Value& a);
Value binary(std::string_view op, const Value& a, const Value& b);

// Layout.
// Dimension i of `a` becomes dimension dims[i] of the result.
// `asked`: how the result is split, where that does not follow from `a`.
Value broadcast_in_dim(const Value& a, const Shape& shape, const Ints& dims,
                       const ShardingPtr& asked = nullptr);
Value broadcast_to(const Value& a, const Shape& shape);  // NumPy's rule: aligned at the end
Value reshape(const Value& a, const Shape& shape);
Value transpose(const Value& a, const Ints& permutation);
Value moveaxis(const Value& a, std::int64_t from, std::int64_t to);
Value squeeze(const Value& a, const Ints& dims);
Value expand_dims(const Value& a, const Ints& dims);         // positions in the result
Value broadcast_leading(const Value& a, std::int64_t size);  // a new dimension 0 that repeats it
Value slice(const Value& a, const Ints& start, const Ints& limit, const Ints& strides);
// Element or range along one dimension; `index` keeps no dimension.
Value index_in_dim(const Value& a, std::int64_t index, std::int64_t dim);
Value slice_in_dim(const Value& a, std::int64_t start, std::int64_t limit, std::int64_t dim);
Value concatenate(const Values& parts, std::int64_t dim);
Value pad(const Value& a, const Value& padding, const Ints& low, const Ints& high,
          const Ints& interior);
Value rev(const Value& a, const Ints& dims);

// Calls a function of the host: "debug_callback", "pure_callback" or "io_callback". `vmap_method`:
// "sequential", "expand_dims", "broadcast_all", "none" (no batching) or "ordered" (likewise).
Values call_host(std::string_view op, const FunctionPtr& function, const Types& results,
                 const std::string& vmap_method, const Values& in);

// The same value, which optimisation takes for another one.
Value optimization_barrier(const Value& a);
// The same elements, shown in another kind of memory: "" is the device's. If the operand has no
// sharding, results have `otherwise` with that memory.
Value moved(const Value& a, const std::string& memory, const ShardingPtr& otherwise);
// `a`, labelled; dimensions in `unconstrained` keep the splitting that they have.
Value sharding_constraint(const Value& a, ShardingPtr sharding, const Ints& unconstrained);

// Reductions over `axes` (sorted).
Value reduce_sum(const Value& a, const Ints& axes);
Value reduce_max(const Value& a, const Ints& axes);
Value reduce_min(const Value& a, const Ints& axes);
Value reduce_or(const Value& a, const Ints& axes);

struct DotDims {
  Ints lhs_contract, rhs_contract, lhs_batch, rhs_batch;
};
// Result: batch dims, then lhs's free dims, then rhs's. `out` is the result's dtype.
Value dot_general(const Value& a, const Value& b, const DotDims& dims, DType out);

// `a` reduced to `type`'s shape where a rank-0 operand was broadcast.
Value unbroadcast(const Value& a, const Type& type);
Ints iota_ints(std::size_t count, std::int64_t start = 0);

}  // namespace shardax::ops
