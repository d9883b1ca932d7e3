// compile/simplify/core_ops.h - handles of the ops that patterns match and make.
#pragma once

#include "ir/op.h"
#include "ir/program.h"

namespace shardax {

struct CoreOps {
  const Op &add, &broadcast_in_dim, &concatenate, &conv_general_dilated, &convert_element_type,
      &div, &dot_general, &dynamic_slice, &dynamic_update_slice, &gather, &mul, &neg,
      &optimization_barrier, &pad, &psum, &reduce_sum, &reshape, &scan, &select_n,
      &sharding_constraint, &slice, &squeeze, &stop_gradient, &transpose;
};
const CoreOps& core_ops();

// Is it a sum of two operands?
bool adds(const Op& op);

// Is it the constant 0, or that repeated? `made_by`: the makers of the program's variables.
bool is_zero(const Program& program, Var v, const std::vector<int>& made_by);

}  // namespace shardax
