// compile/passes.h - the passes over programs, in the order in which pipeline.cpp runs them.
//
// Each takes a program and gives one that computes the same; it gives the same pointer where
// nothing changed.
#pragma once

#include "ir/program.h"

namespace shardax {

// Sums, maxima and minima over processes that do not need each other travel as one message.
ProgramPtr combine_all_reduces(const ProgramPtr& program);

// Inputs whose layout repeats along dimensions (stride 0) become smaller inputs that are broadcast:
//   a:f32[8,5] (strides 0,1)   ->   a:f32[5]; b:f32[8,5] = broadcast_in_dim a
// `input_strides` is changed to those of the smaller inputs. `stripmine` as for simplify.
ProgramPtr expose_uniform(const ProgramPtr& program, std::vector<Shape>& input_strides,
                          bool stripmine = false);

// One walk (compile/simplify/pattern_driver.h). Calls become their regions, and pmap becomes its
// body batched over the mapped axis. Inputs that repeat along that axis stay without it;
// collectives become ops along dimension 0. Local rewriting with common subexpressions merged:
// composes layout ops, keeps work on repeated values small, in loops too, joins reduce_sum with
// dot_general. With `stripmine`, mapped functions run a few devices at a time
// (compile/loops/stripmine_devices.cpp).
ProgramPtr simplify(const ProgramPtr& program, bool stripmine = false);

// Equations whose results are not used, and unused constants, go away.
ProgramPtr eliminate_dead_code(const ProgramPtr& program);

// Products that add nothing up become elementwise ones (compile/lower/expand_products.cpp):
//   c:f32[9,3] = dot_general a:f32[9] b:f32[3]
//   ->   d = broadcast_in_dim a; e = broadcast_in_dim b; c = mul d e
ProgramPtr expand_products(const ProgramPtr& program);

// Numbers narrower than the machine computes with (array/narrow.h) are converted to float32 or
// int32 for each equation, and its results back:
//   b:i4[3] = add a a   ->   c:i32[3] = convert a; d:i32[3] = add c c; b:i4[3] = convert d
ProgramPtr legalize_types(const ProgramPtr& program);

// Short trailing dimensions change places with the long one before them if that spares short rows
// (compile/lower/assign_layouts.cpp):
//   d:f32[9,900,3] = sub b c; e:f32[9,900] = reduce_sum[axes=(2,)] d
//   ->   d:f32[9,3,900] = sub f g; e:f32[9,900] = reduce_sum[axes=(1,)] d
ProgramPtr assign_layouts(const ProgramPtr& program);

// Complex carries of loops are split into real and imaginary parts
// (compile/loops/split_complex_carries.cpp):
//   z = scan { mul z z }   ->   x = real z; y = imag z; x, y = scan { ... }; z = complex x y
ProgramPtr split_complex_carries(const ProgramPtr& program);

// Transposes of loop-invariant matrices that multiply vectors are hoisted out of the loop
// (compile/loops/hoist_transposes.cpp):
//   b = while { dot(a, x) }   ->   t = transpose a; b = while { dot(t, x) }
ProgramPtr hoist_transposes(const ProgramPtr& program);

// Negative places count from the end; gather and scatter add the size themselves:
//   c = add b 9; d = lt b 0; e = select_n d b c; f = gather a e   ->   f = gather[wraps=(9,)] a b
ProgramPtr fold_index_wrap(const ProgramPtr& program);

// Cheap equations are copied to late uses of their results (compile/remat/remat_long_lived.cpp):
//   t = tanh x; ...; y = mul t z   ->   ...; u = optimization_barrier x; v = tanh u; y = mul v z
// `overwritten`: inputs whose memory results may take over.
ProgramPtr remat_long_lived(const ProgramPtr& program, const std::vector<bool>& overwritten);

// Additions to a branch's result sink into the branches if one of them gives zeros
// (compile/loops/sink_adds_into_branches.cpp):
//   d = cond(p, { 0 }, { a b }); e = add c d   ->   e = cond(p, c, { c }, { c + a b })
ProgramPtr sink_adds_into_branches(const ProgramPtr& program);

// Loop-invariant operands of products are packed once, before the loop
// (compile/loops/prepack_operands.cpp):
//   b = scan { dot_general(h, w) }   ->   p:f32[8,256,32] = ... w; b = scan { dot_general(h, p) }
ProgramPtr prepack_operands(const ProgramPtr& program);

}  // namespace shardax
