// ops/random.cpp - threefry keys and the bits drawn from them.
//
// A key is two 32-bit words: an element of dtype key, or a uint32 array whose last dimension is 2;
// ops take either and give back the same kind. In the partitionable stream (JAX's default) element
// i of a draw is the hash of the 64-bit counter i. In the older one ("partitionable" false) the
// draw's n words are numbered 0 .. n-1, and word i is hashed together with word n/2 + i.
#include "ops/dense.h"
#include "ops/draw.h"
#include "ops/family.h"

namespace shardax::ops {
namespace {

std::int64_t product(const Shape& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

void check_key_data(const Type& type) {
  if (type.dtype != DType::uint32) {
    type_error(
        "JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got dtype=",
        name(type.dtype));
  }
  if (type.rank() < 1 || type.shape.back() != 2) {
    type_error(
        "JAX encountered invalid PRNG key data: expected key_data.shape to end with (2,); "
        "got shape=",
        to_string(type.shape), " for impl=fry");
  }
}

// The shape of an array of keys of either kind.
Shape keys_shape(const Type& type) {
  Shape shape = type.shape;
  if (type.dtype == DType::key) return shape;
  check_key_data(type);
  shape.pop_back();
  return shape;
}
Type keys_like(const Type& type, Shape shape) {
  if (type.dtype != DType::key) shape.push_back(2);
  return with_shape(type, std::move(shape));
}

bool old_stream(const Params& params) {
  return params.has("partitionable") && !params.flag("partitionable");
}

// ---- records -------------------------------------------------------------------------------

std::vector<std::string> show_bits(const Params& p) {
  return {concat("bit_width=", p.integer("bit_width")), "shape=" + to_string(p.ints("shape"))};
}
std::vector<std::string> show_impl(const Params&) { return {"impl=fry"}; }
std::vector<std::string> show_nothing(const Params&) { return {}; }

Batched batch_same(const BatchArgs& a) { return batched1(bind1(a.op, a.params, a.in)); }

DType unsigned_of_width(std::int64_t bits) {
  switch (bits) {
    case 8: return DType::uint8;
    case 16: return DType::uint16;
    case 32: return DType::uint32;
    case 64: return DType::uint64;
    default: type_error("requires 8-, 16-, 32- or 64-bit field width, got ", bits, ".");
  }
}

Shape drawn_shape(const Type& keys, const Params& params) {
  Shape shape = keys_shape(keys);
  for (std::int64_t d : params.ints("shape")) {
    if (d < 0)
      value_error("random: shape ", to_string(params.ints("shape")), " has a negative size.");
    shape.push_back(d);
  }
  return shape;
}

const Op bits_op{{.name = "random_bits",
                  .doc = "`shape` unsigned integers of `bit_width` random bits for each key.",
                  .type = [](const Op&, const Types& in, const Params& params) -> Types {
                    Type out = with_shape(in[0], drawn_shape(in[0], params));
                    return {with_dtype(out, unsigned_of_width(params.integer("bit_width")))};
                  },
                  .batch = batch_same,
                  .no_gradient = true,
                  .kernel = [](const Types& in, const Types&, const Params& params) -> Kernel {
                    const std::int64_t count = product(keys_shape(in[0])),
                                       n = product(params.ints("shape"));
                    return [count, n, old = old_stream(params)](std::span<const View> views,
                                                                std::span<const View> outs) {
                      const DenseInput keys(views[0]);
                      const DenseOutput out(outs[0]);
                      visit_dtype(outs[0].dtype, [&](auto zero) {
                        using T = decltype(zero);
                        if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
                          draw_bits(keys.as<std::uint32_t>(), count, n, old, out.as<T>());
                        }
                      });
                      out.finish();
                    };
                  },
                  .show = show_bits}};

const Op split_op{
    {.name = "random_split",
     .doc = "`shape` new keys for each key.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       return {keys_like(in[0], drawn_shape(in[0], params))};
     },
     .batch = batch_same,
     .no_gradient = true,
     .kernel = [](const Types& in, const Types&, const Params& params) -> Kernel {
       const std::int64_t count = product(keys_shape(in[0])), n = product(params.ints("shape"));
       return [count, n, old = old_stream(params)](std::span<const View> views,
                                                   std::span<const View> outs) {
         const DenseInput keys(views[0]);
         const DenseOutput out(outs[0]);
         if (old) {
           draw_words(keys.as<std::uint32_t>(), count, 2 * n, out.as<std::uint32_t>());
         } else {
           draw_elements(keys.as<std::uint32_t>(), count, n, false, out.as<key_t>(),
                         [](std::uint32_t a, std::uint32_t b) { return key_t{{a, b}}; });
         }
         out.finish();
       };
     },
     .show = [](const Params& p) -> std::vector<std::string> {
       return {"shape=" + to_string(p.ints("shape"))};
     }}};

// NumPy's broadcasting of shapes of one rank, or of rank 0 with any.
Shape folded_shape(const Shape& keys, const Shape& data) {
  if (keys.empty() || data.empty()) return keys.empty() ? data : keys;
  Shape out = keys;
  bool fits = keys.size() == data.size();
  for (std::size_t d = 0; fits && d < out.size(); ++d) {
    fits = keys[d] == data[d] || keys[d] == 1 || data[d] == 1;
    if (keys[d] == 1) out[d] = data[d];
  }
  if (!fits) {
    type_error("random_fold_in got incompatible shapes for broadcasting: ", to_string(keys), ", ",
               to_string(data), ".");
  }
  return out;
}

// A view repeated to `shape` where its dimensions have size 1 or are missing.
View spread(View view, const Shape& shape) {
  if (view.shape.empty()) view.strides.assign(shape.size(), 0);
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) view.strides[d] = 0;
  }
  view.shape = shape;
  return view;
}

Kernel fold_in_kernel(const Types& in, const Types&, const Params&) {
  const Shape shape = folded_shape(keys_shape(in[0]), in[1].shape);
  return [shape, n = product(shape)](std::span<const View> views, std::span<const View> outs) {
    View keys = views[0];
    Shape key_shape = shape;
    if (keys.dtype != DType::key) {
      const std::int64_t word_stride = keys.strides.back();
      keys.shape.pop_back();
      keys.strides.pop_back();
      keys = spread(keys, shape);
      keys.shape.push_back(2);
      keys.strides.push_back(word_stride);
    } else {
      keys = spread(keys, shape);
    }
    const DenseInput key_words(keys), data(spread(views[1], shape));
    const DenseOutput out(outs[0]);
    std::uint32_t key0[draw_tile], key1[draw_tile], first[draw_tile], second[draw_tile];
    for (std::int64_t at = 0; at < n; at += draw_tile) {
      const std::int64_t m = std::min(draw_tile, n - at);
      for (std::int64_t i = 0; i < m; ++i) {
        key0[i] = key_words.as<std::uint32_t>()[2 * (at + i)];
        key1[i] = key_words.as<std::uint32_t>()[2 * (at + i) + 1];
        first[i] = 0;
      }
      visit_dtype(views[1].dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>) {
          for (std::int64_t i = 0; i < m; ++i)
            second[i] = static_cast<std::uint32_t>(data.as<T>()[at + i]);
        }
      });
      kernels::threefry_elements(key0, key1, first, second, m, first, second);
      for (std::int64_t i = 0; i < m; ++i) out.as<key_t>()[at + i] = key_t{{first[i], second[i]}};
    }
    out.finish();
  };
}

// Batched operands of lower rank gain trailing dimensions of size 1, before a raw key's words.
Batched fold_in_batch(const BatchArgs& a) {
  Values in = all_batched(a);
  const bool raw = in[0]->dtype() != DType::key;
  const std::size_t key_rank = in[0]->shape().size() - (raw ? 1 : 0),
                    data_rank = in[1]->shape().size();
  const std::size_t rank = std::max(key_rank, data_rank);
  in[0] = expand_dims(in[0], iota_ints(rank - key_rank, static_cast<std::int64_t>(key_rank)));
  in[1] = expand_dims(in[1], iota_ints(rank - data_rank, static_cast<std::int64_t>(data_rank)));
  return batched1(bind1(a.op, a.params, in));
}

const Op fold_in_op{{.name = "random_fold_in",
                     .doc = "A new key of each key and integer.",
                     .type = [](const Op&, const Types& in, const Params&) -> Types {
                       if (!is_integer(in[1].dtype)) {
                         type_error("random_fold_in: data must be integers, got ",
                                    name(in[1].dtype), ".");
                       }
                       return {keys_like(in[0], folded_shape(keys_shape(in[0]), in[1].shape))};
                     },
                     .batch = fold_in_batch,
                     .no_gradient = true,
                     .kernel = fold_in_kernel,
                     .show = show_nothing}};

const Op seed_op{
    {.name = "random_seed",
     .doc = "The key whose words are the high and the low half of an integer.",
     .type = [](const Op&, const Types& in, const Params&) -> Types {
       if (!is_integer(in[0].dtype)) {
         type_error("PRNG key seed must be an integer; got ", to_string(in[0]));
       }
       return {with_dtype(in[0], DType::key)};
     },
     .batch = batch_same,
     .no_gradient = true,
     .kernel = [](const Types& in, const Types&, const Params&) -> Kernel {
       return [n = in[0].size()](std::span<const View> views, std::span<const View> outs) {
         const DenseInput seeds(views[0]);
         const DenseOutput out(outs[0]);
         visit_dtype(views[0].dtype, [&](auto zero) {
           using T = decltype(zero);
           if constexpr (std::is_integral_v<T>) {
             for (std::int64_t i = 0; i < n; ++i) {
               const T seed = seeds.as<T>()[i];
               const auto wide = static_cast<std::uint64_t>(seed);
               const auto high = sizeof(T) == 8 ? static_cast<std::uint32_t>(wide >> 32) : 0u;
               out.as<key_t>()[i] = key_t{{high, static_cast<std::uint32_t>(wide)}};
             }
           }
         });
         out.finish();
       };
     },
     .show = show_impl}};

const Op wrap_op{
    {.name = "random_wrap",
     .doc = "uint32[..., 2] seen as keys.",
     .kind = Kind::layout,
     .type = [](const Op&, const Types& in, const Params&) -> Types {
       check_key_data(in[0]);
       return {with_dtype(with_shape(in[0], keys_shape(in[0])), DType::key)};
     },
     .batch = batch_same,
     .no_gradient = true,
     .view =
         [](const Params&, const Type& in, const Shape& strides, const Type&, ViewLayout& result) {
           if (strides.back() != 1) return false;
           for (std::size_t d = 0; d + 1 < strides.size(); ++d) {
             if (strides[d] % 2 != 0 && in.shape[d] > 1) return false;
             result.strides.push_back(strides[d] / 2);
           }
           return true;
         },
     .show = show_impl}};

const Op unwrap_op{
    {.name = "random_unwrap",
     .doc = "The words of keys, as uint32[..., 2].",
     .kind = Kind::layout,
     .type = [](const Op&, const Types& in, const Params&) -> Types {
       if (in[0].dtype != DType::key) {
         type_error("random_unwrap takes key array operand, got keys.dtype=", name(in[0].dtype));
       }
       Shape shape = in[0].shape;
       shape.push_back(2);
       return {with_dtype(with_shape(in[0], shape), DType::uint32)};
     },
     .batch = batch_same,
     .no_gradient = true,
     .view =
         [](const Params&, const Type&, const Shape& strides, const Type&, ViewLayout& result) {
           for (std::int64_t s : strides) result.strides.push_back(2 * s);
           result.strides.push_back(1);
           return true;
         }}};

const Op threefry_op{
    {.name = "threefry2x32",
     .doc = "Elementwise hash of two words of counters under two words of a key.",
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       for (const Type& type : in) {
         if (type.dtype != DType::uint32) {
           type_error("Arguments to threefry2x32 must have uint32 type, got ", to_string(type));
         }
       }
       const Type out{DType::uint32, false, elementwise_shape(op, in), {}};
       return {out, out};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return {shardax::bind(a.op, a.params, all_batched(a)), {true, true}};
     },
     .no_gradient = true,
     .kernel = [](const Types&, const Types& out, const Params&) -> Kernel {
       return [shape = out[0].shape, n = out[0].size()](std::span<const View> in,
                                                        std::span<const View> outs) {
         const DenseInput k0(spread(in[0], shape)), k1(spread(in[1], shape)),
             c0(spread(in[2], shape)), c1(spread(in[3], shape));
         const DenseOutput o0(outs[0]), o1(outs[1]);
         runtime::parallel_for((n + draw_chunk - 1) / draw_chunk, [&](std::int64_t i) {
           const std::int64_t at = i * draw_chunk;
           kernels::threefry_elements(k0.as<std::uint32_t>() + at, k1.as<std::uint32_t>() + at,
                                      c0.as<std::uint32_t>() + at, c1.as<std::uint32_t>() + at,
                                      std::min(draw_chunk, n - at), o0.as<std::uint32_t>() + at,
                                      o1.as<std::uint32_t>() + at);
         });
         o0.finish();
         o1.finish();
       };
     }}};

}  // namespace
}  // namespace shardax::ops
