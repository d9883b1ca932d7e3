// compile/simplify/fold_reductions.h - sums and conversions folded into the products they take.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// sum(transpose(x)) -> transpose(sum(x)), so that the reduction is next to its operand.
std::optional<Vars> reduce_before_transpose(const PatternContext& m);
// The sum over devices of weight gradients is one product. Only where the product has one use.
//   sum(dot(a, b)) over batches   ->   dot(a, b) over them too
std::optional<Vars> reduce_into_dot(const PatternContext& m);
// The same for convolutions, whose leading dimensions are batches of one operand or of both. The
// sum over a batch of both is one convolution that contracts it.
std::optional<Vars> reduce_into_conv(const PatternContext& m);

// The same for updates that are added to x: the gradient of rows that were looked up.
//   sum(scatter_add(x, updates)) over batches   ->   scatter_add(sum(x), updates) of all of them
std::optional<Vars> reduce_into_scatter(const PatternContext& m);

// Products of 16-bit numbers are sums of float32: without a rounding to 16 bits in between, as XLA
// has it. Then the sum over devices of weight gradients is one product, too.
//   convert(dot(a, b)) to float32   ->   dot(a, b) of that type; also of convolutions
std::optional<Vars> convert_into_product(const PatternContext& m);

}  // namespace shardax
