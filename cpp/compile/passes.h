// compile/passes.h - the passes over programs, in the order in which pipeline.cpp runs them.
//
// Each takes a program and gives one that computes the same; it gives the same pointer where
// nothing changed.
#pragma once

#include "ir/program.h"

namespace shardax {

// Inputs whose layout repeats along dimensions (stride 0) become smaller inputs that are broadcast:
//   a:f32[8,5] (strides 0,1)   ->   a:f32[5]; b:f32[8,5] = broadcast_in_dim a
// `input_strides` is changed to those of the smaller inputs.
ProgramPtr expose_uniform(const ProgramPtr& program, std::vector<Shape>& input_strides);

// Calls become their bodies: jit as it stands; pmap batched over its axis, where inputs that are
// broadcast along the mapped dimension stay without it. Collectives become ops along dimension 0.
ProgramPtr inline_calls(const ProgramPtr& program);

// Local rewriting with common subexpressions merged: composes layout ops, keeps elementwise work on
// repeated values small, joins reduce_sum with dot_general.
ProgramPtr simplify(const ProgramPtr& program);

// Equations whose results are not used, and unused constants, go away.
ProgramPtr eliminate_dead(const ProgramPtr& program);

}  // namespace shardax
