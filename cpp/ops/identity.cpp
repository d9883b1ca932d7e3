// ops/identity.cpp - ops that give their operand and mean something to transformations only.
#include "ops/family.h"

namespace shardax::ops {
namespace {

bool same_view(const Params&, const Type&, const Shape& strides, const Type&, ViewLayout& result) {
  result.strides = strides;
  return true;
}

const Op stop_gradient_op{
    {.name = "stop_gradient",
     .doc = "The operand, whose derivative is taken to be zero.",
     .kind = Kind::layout,
     .dtypes = any_dtype,
     .type = [](const Op&, const Types& in, const Params&) -> Types { return {in[0]}; },
     .batch = [](const BatchArgs& a) -> Batched { return batched1(bind1(a.op, a.params, a.in)); },
     .no_gradient = true,
     .half_native = true,
     .view = same_view}};

}  // namespace
}  // namespace shardax::ops
