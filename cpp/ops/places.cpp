// ops/places.cpp - places_of_true: where a mask holds.
#include "kernels/places.h"

#include "base/errors.h"
#include "ops/dense.h"
#include "ops/family.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

const Op places_of_true_op{
    {.name = "places_of_true",
     .doc = "The first `size` positions along the last dimension at which a mask holds, int32; the "
            "dimension's length where there are fewer.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       if (in[0].dtype != DType::boolean || in[0].shape.empty()) {
         type_error("places_of_true requires a bool array of one or more dimensions, got ",
                    to_string(in[0]), ".");
       }
       Type out = with_dtype(in[0], DType::int32);
       out.shape.back() = params.integer("size");
       return {out};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return {shardax::bind(a.op, a.params, a.in), {true}};
     },
     .no_gradient = true,
     .kernel = [](const Types& in, const Types& out, const Params&) -> Kernel {
       const std::int64_t n = in[0].shape.back(), size = out[0].shape.back();
       const std::int64_t rows = size ? out[0].size() / size : 0;
       return [=](std::span<const View> views, std::span<const View> outs) {
         const DenseInput mask(views[0]);
         const DenseOutput places(outs[0]);
         runtime::parallel_for(rows, [&](std::int64_t row) {
           kernels::places_of_true(mask.as<bool>() + row * n, n,
                                   places.as<std::int32_t>() + row * size, size);
         });
         places.finish();
       };
     }}};

}  // namespace
}  // namespace shardax::ops
