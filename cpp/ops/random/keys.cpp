// ops/random/keys.cpp - keys out of integers and of words, and their words.
#include "ops/random/keys.h"

#include "ops/contiguous.h"
#include "ops/dim_rules.h"
#include "ops/random/hashed_keys.h"

namespace shardax::ops {
namespace {

std::vector<std::string> show_impl(const Params& p) { return {"impl=" + impl_text(impl_of(p))}; }

Batched batch_same(const BatchArgs& a) { return batched1(bind1(a.op, a.params, a.in)); }

const Op seed_op{
    {.name = "random_seed",
     .operands = 1,
     .doc =
         "The key of an integer: its high and low half, of rbg twice, of threefry4x32 and philox "
         "hashed.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       if (!is_integer(in[0].dtype)) {
         type_error("PRNG key seed must be an integer; got ", to_string(in[0]));
       }
       check_not_defined(impl_of(params));
       return {with_dtype(in[0], impl_of(params))};
     },
     .batch = batch_same,
     .no_gradient = true,
     .kernel = [](const Types& in, const Types&, const Params& params) -> Kernel {
       const DType impl = impl_of(params);
       return [n = in[0].size(), wide = impl != DType::key, size = itemsize(impl),
               hashed = hashed_generator(impl)](std::span<const View> views,
                                                std::span<const View> outs) {
         const DenseInput seeds(views[0]);
         const DenseOutput out(outs[0]);
         visit_dtype(views[0].dtype, [&](auto zero) {
           using T = decltype(zero);
           if constexpr (std::is_integral_v<T>) {
             for (std::int64_t i = 0; i < n; ++i) {
               const T seed = seeds.as<T>()[i];
               const auto bits = static_cast<std::uint64_t>(seed);
               const auto high = sizeof(T) == 8 ? static_cast<std::uint32_t>(bits >> 32) : 0u;
               const auto low = static_cast<std::uint32_t>(bits);
               if (hashed)
                 hashed->seed(high, low, out.as<std::byte>() + i * size);
               else if (wide)
                 out.as<wide_key_t>()[i] = {{high, low, high, low}};
               else
                 out.as<key_t>()[i] = {{high, low}};
             }
           }
         });
         out.finish();
       };
     },
     .show = show_impl,
     .keys = KeyUse::makes}};

const Op clone_op{
    {.name = "random_clone",
     .operands = 1,
     .doc = "The same keys, which may be used once more.",
     .kind = Kind::layout,
     .dtypes = keys,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_dtype(op, in[0].dtype);
       return {in[0]};
     },
     .batch = batch_same,
     .no_gradient = true,
     .view =
         [](const Params&, const Type&, const Shape& strides, const Type&, ViewLayout& result) {
           result.strides = strides;
           return true;
         },
     .dims = dims_elementwise,
     .keys = KeyUse::makes}};

const Op wrap_op{{.name = "random_wrap",
                  .operands = 1,
                  .doc = "The words of keys, uint32[..., 2] or [..., 4], seen as keys.",
                  .kind = Kind::layout,
                  .type = [](const Op&, const Types& in, const Params& params) -> Types {
                    check_key_data(in[0], impl_of(params));
                    Shape shape(in[0].shape.begin(), in[0].shape.end() - 1);
                    return {with_dtype(with_shape(in[0], std::move(shape)), impl_of(params))};
                  },
                  .batch = batch_same,
                  .no_gradient = true,
                  .view =
                      [](const Params& params, const Type& in, const Shape& strides, const Type&,
                         ViewLayout& result) {
                        const std::int64_t words = key_words(impl_of(params));
                        if (strides.back() != 1) return false;
                        for (std::size_t d = 0; d + 1 < strides.size(); ++d) {
                          if (strides[d] % words != 0 && in.shape[d] > 1) return false;
                          result.strides.push_back(strides[d] / words);
                        }
                        return true;
                      },
                  .dims = [](const Params&, const Types& in,
                             const Type& out) { return dims_leading(out.rank(), in, out); },
                  .show = show_impl,
                  .keys = KeyUse::makes}};

const Op unwrap_op{
    {.name = "random_unwrap",
     .operands = 1,
     .doc = "The words of keys, as uint32[..., 2] or [..., 4].",
     .kind = Kind::layout,
     .type = [](const Op&, const Types& in, const Params&) -> Types {
       if (!is_key(in[0].dtype)) {
         type_error("random_unwrap takes key array operand, got keys.dtype=", name(in[0].dtype));
       }
       Shape shape = in[0].shape;
       shape.push_back(key_words(in[0].dtype));
       return {with_dtype(with_shape(in[0], shape), DType::uint32)};
     },
     .batch = batch_same,
     .no_gradient = true,
     .view =
         [](const Params&, const Type& in, const Shape& strides, const Type&, ViewLayout& result) {
           for (std::int64_t s : strides) result.strides.push_back(key_words(in.dtype) * s);
           result.strides.push_back(1);
           return true;
         },
     .dims = [](const Params&, const Types& in,
                const Type& out) { return dims_leading(in[0].rank(), in, out); },
     .keys = KeyUse::reads}};

}  // namespace
}  // namespace shardax::ops
