// ops/dim_rules.h - rules for records: the factors that dimensions consist of (ir/dim_factors.h).
#pragma once

#include "ir/dim_factors.h"

namespace shardax::ops {

// Dimension d of each operand is that of the result; an operand of one element there is repeated.
DimFactors dims_elementwise(const Params& params, const Types& in, const Type& out);
// Dimensions of the param `axes` are reduced; the others are the result's, in order.
DimFactors dims_reduced(const Params& params, const Types& in, const Type& out);
// As elementwise, but that the op works along these dimensions.
DimFactors dims_along(const Ints& dims, const Types& in, const Type& out, FactorUse use);
// The first `count` dimensions are the same in all arrays; results may depend on all of the rest.
DimFactors dims_leading(std::size_t count, const Types& in, const Type& out,
                        FactorUse use = FactorUse::parallel);
DimFactors dims_broadcast(const Params& params, const Types& in, const Type& out);
DimFactors dims_transposed(const Params& params, const Types& in, const Type& out);
DimFactors dims_squeezed(const Params& params, const Types& in, const Type& out);
// Adds the dimension of an operand along which a window slides, and that of the windows. Windows
// that do not overlap divide the operand: the first factor of its dimension is the other one.
struct SlideDims {
  FactorList operand, windows;
};
SlideDims add_slide(DimFactors& made, std::int64_t operand, std::int64_t windows,
                    const Slide& slide);
// Dimensions that become one, or one that becomes several, share factors.
DimFactors dims_reshaped(const Params& params, const Types& in, const Type& out);
// The dimensions of a product, by the params that name batch and contracted dimensions of two
// operands.
DimFactors dims_product(const Params& params, const Types& in, const Type& out);

}  // namespace shardax::ops
