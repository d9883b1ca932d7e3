// ir/core_ops.h - handles of the ops that the core itself names.
//
// A misspelt handle does not compile. Loading the module resolves all of them, and throws where an
// op has no record.
#pragma once

#include "ir/op.h"

namespace shardax {

// handle, name
#define SHARDAX_CORE_OPS(X)                           \
  X(add, "add")                                       \
  X(add_any, "add_any")                               \
  X(all_gather, "all_gather")                         \
  X(all_to_all, "all_to_all")                         \
  X(and_, "and")                                      \
  X(argmax, "argmax")                                 \
  X(argmin, "argmin")                                 \
  X(axis_index, "axis_index")                         \
  X(bitcast_convert_type, "bitcast_convert_type")     \
  X(broadcast_in_dim, "broadcast_in_dim")             \
  X(complex_log_gamma, "complex_log_gamma")           \
  X(concatenate, "concatenate")                       \
  X(conv_general_dilated, "conv_general_dilated")     \
  X(convert_element_type, "convert_element_type")     \
  X(cumprod, "cumprod")                               \
  X(cumsum, "cumsum")                                 \
  X(device_put, "device_put")                         \
  X(div, "div")                                       \
  X(dot_general, "dot_general")                       \
  X(dynamic_slice, "dynamic_slice")                   \
  X(dynamic_update_slice, "dynamic_update_slice")     \
  X(eq, "eq")                                         \
  X(exp, "exp")                                       \
  X(gather, "gather")                                 \
  X(ge, "ge")                                         \
  X(gt, "gt")                                         \
  X(hyp2f1_by_a, "hyp2f1_by_a")                       \
  X(hyp2f1_by_c, "hyp2f1_by_c")                       \
  X(inspect_sharding, "inspect_sharding")             \
  X(iota, "iota")                                     \
  X(jit, "jit")                                       \
  X(layout_constraint, "layout_constraint")           \
  X(le, "le")                                         \
  X(lt, "lt")                                         \
  X(max, "max")                                       \
  X(min, "min")                                       \
  X(mul, "mul")                                       \
  X(name, "name")                                     \
  X(ne, "ne")                                         \
  X(neg, "neg")                                       \
  X(not_, "not")                                      \
  X(optimization_barrier, "optimization_barrier")     \
  X(or_, "or")                                        \
  X(pad, "pad")                                       \
  X(partial_sums, "partial_sums")                     \
  X(pmap, "pmap")                                     \
  X(pmax, "pmax")                                     \
  X(pmin, "pmin")                                     \
  X(ppermute, "ppermute")                             \
  X(preduced, "preduced")                             \
  X(process_agree, "process_agree")                   \
  X(process_all_gather, "process_all_gather")         \
  X(process_all_reduce, "process_all_reduce")         \
  X(process_all_to_all, "process_all_to_all")         \
  X(process_index, "process_index")                   \
  X(process_permute, "process_permute")               \
  X(process_reduce_scatter, "process_reduce_scatter") \
  X(psum, "psum")                                     \
  X(psum_invariant, "psum_invariant")                 \
  X(pvary, "pvary")                                   \
  X(reduce_and, "reduce_and")                         \
  X(reduce_max, "reduce_max")                         \
  X(reduce_min, "reduce_min")                         \
  X(reduce_or, "reduce_or")                           \
  X(reduce_precision, "reduce_precision")             \
  X(reduce_scatter, "reduce_scatter")                 \
  X(reduce_sum, "reduce_sum")                         \
  X(reduced_vary_cast, "reduced_vary_cast")           \
  X(reshape, "reshape")                               \
  X(round, "round")                                   \
  X(scan, "scan")                                     \
  X(scatter, "scatter")                               \
  X(scatter_add, "scatter-add")                       \
  X(scatter_mul, "scatter-mul")                       \
  X(scatter_sub, "scatter-sub")                       \
  X(select_n, "select_n")                             \
  X(shard_map, "shard_map")                           \
  X(sharding_constraint, "sharding_constraint")       \
  X(slice, "slice")                                   \
  X(sort, "sort")                                     \
  X(squeeze, "squeeze")                               \
  X(stop_gradient, "stop_gradient")                   \
  X(sub, "sub")                                       \
  X(transpose, "transpose")                           \
  X(unreduced_psum, "unreduced_psum")

struct CoreOps {
#define SHARDAX_CORE_OP(handle, name) const Op& handle;
  SHARDAX_CORE_OPS(SHARDAX_CORE_OP)
#undef SHARDAX_CORE_OP
};
const CoreOps& core_ops();

// Is it a sum of two operands?
bool is_add(const Op& op);

}  // namespace shardax
