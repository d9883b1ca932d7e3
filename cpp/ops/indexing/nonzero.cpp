// ops/indexing/nonzero.cpp - nonzero: positions of the true elements of a mask.
#include "kernels/sort/nonzero.h"

#include "base/errors.h"
#include "ops/contiguous.h"
#include "ops/family.h"
#include "ops/param_checks.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

const Op places_of_true_op{
    {.name = "nonzero",
     .operands = 1,
     .doc = "The first `size` positions along the last dimension at which a mask holds, int32 "
            "unless index_dtype says otherwise; the "
            "dimension's length where there are fewer.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       if (in[0].dtype != DType::boolean || in[0].shape.empty()) {
         type_error("nonzero requires a bool array of one or more dimensions, got ",
                    to_string(in[0]), ".");
       }
       const DType index =
           params.has("index_dtype") ? params.dtype(param::index_dtype) : DType::int32;
       if (index != DType::int32 && index != DType::int64)
         type_error("nonzero: index_dtype ", name(index), "; int32 or int64 was expected.");
       check_places("nonzero", in[0].shape.back(), index);
       Type out = with_dtype(in[0], index);
       out.shape.back() = params.integer(param::size);
       if (out.shape.back() < 0) value_error("nonzero: size ", out.shape.back(), " is negative.");
       return {out};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return {shardax::bind(a.op, a.params, a.in), {true}};
     },
     .no_gradient = true,
     .kernel = [](const Types& in, const Types& out, const Params&) -> Kernel {
       const std::int64_t n = in[0].shape.back(), size = out[0].shape.back();
       const std::int64_t rows = size ? out[0].size() / size : 0;
       const bool wide = out[0].dtype == DType::int64;
       return [=](std::span<const View> views, std::span<const View> outs) {
         const DenseInput mask(views[0]);
         const DenseOutput places(outs[0]);
         runtime::parallel_for(rows, [&](std::int64_t row) {
           if (wide)
             kernels::nonzero(mask.as<bool>() + row * n, n, places.as<std::int64_t>() + row * size,
                              size);
           else
             kernels::nonzero(mask.as<bool>() + row * n, n, places.as<std::int32_t>() + row * size,
                              size);
         });
         places.finish();
       };
     }}};

}  // namespace
}  // namespace shardax::ops
