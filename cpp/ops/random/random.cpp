// ops/random/random.cpp - keys and the bits drawn from them.
//
// A threefry key is two 32-bit words: an element of dtype key, or a uint32 array whose last
// dimension is 2. Ops take either and give back the same kind. Keys of the other generators
// (ops/random/bit_generator.h, ops/random/hashed_keys.h) have a dtype of their own. In the
// partitionable stream (JAX's default) element i of a draw is the hash of the 64-bit counter i. In
// the older one ("partitionable" false) the draw's n words are numbered 0 .. n-1, and word i is
// hashed together with word n/2 + i.
#include <numeric>

#include "base/index.h"
#include "ops/contiguous.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/param_checks.h"
#include "ops/random/bit_generator.h"
#include "ops/random/draw.h"
#include "ops/random/draw_part.h"
#include "ops/random/hashed_keys.h"
#include "ops/random/keys.h"

namespace shardax::ops {
namespace {

bool old_stream(const Params& params) {
  return params.has("partitionable") && !params.flag(param::partitionable);
}

// A key of the generators whose keys may draw together.
bool is_wide(DType dtype) {
  return is_key(dtype) && dtype != DType::key && !hashed_generator(dtype);
}

// The number of keys that draw together from one stream of the unsafe generator
// (ops/random/bit_generator.h).
std::int64_t together(const Params& params, std::int64_t count) {
  const std::int64_t groups = params.has("separate") ? params.integer(param::separate) : 1;
  return groups == 0 ? count : count / groups;
}
Params separated(const BatchArgs& a, bool batched) {
  Params params = a.params;
  if (a.axis.devices && batched) {
    params.set("separate",
               a.axis.size * (params.has("separate") ? params.integer(param::separate) : 1));
  }
  return params;
}

// ---- records -------------------------------------------------------------------------------

std::vector<std::string> show_bits(const Params& p) {
  return {concat("bit_width=", p.integer(param::bit_width)),
          "shape=" + to_string(p.ints(param::shape))};
}
std::vector<std::string> show_nothing(const Params&) { return {}; }

Batched batch_drawn(const BatchArgs& a) {
  return batched1(bind1(a.op, is_key(a.in[0]->dtype()) ? separated(a, true) : a.params, a.in));
}

// The number of keys that draw together divides `count`.
void check_draws(const Params& params, std::int64_t count) {
  old_stream(params);
  const std::int64_t groups = params.has("separate") ? params.integer(param::separate) : 1;
  if (groups >= 0 && (groups == 0 || count % groups == 0)) return;
  value_error("random: ", groups, " groups of ", count, " keys draw separately.");
}

Shape drawn_shape(const Type& keys, const Params& params) {
  Shape shape = keys_shape(keys);
  for (std::int64_t d : params.ints(param::shape)) {
    if (d < 0)
      value_error("random: shape ", to_string(params.ints(param::shape)), " has a negative size.");
    shape.push_back(d);
  }
  return shape;
}

Kernel bits_kernel(const Types& in, const Types&, const Params& params) {
  const std::int64_t count = product(keys_shape(in[0])), n = product(params.ints(param::shape));
  if (const HashedGenerator* hashed = hashed_generator(in[0].dtype)) {
    return [=, width = static_cast<int>(params.integer(param::bit_width))](
               std::span<const View> views, std::span<const View> outs) {
      const DenseInput keys(views[0]);
      const DenseOutput out(outs[0]);
      hashed->draw(keys.as<void>(), count, n, width, out.as<void>());
      out.finish();
    };
  }
  const bool wide = is_wide(in[0].dtype);
  return [count, n, wide, old = old_stream(params), group = together(params, count)](
             std::span<const View> views, std::span<const View> outs) {
    const DenseInput keys(views[0]);
    const DenseOutput out(outs[0]);
    visit_dtype(outs[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
        if (wide)
          draw_stream({keys.as<wide_key_t>(), count, group}, n, out.as<T>());
        else
          draw_bits(keys.as<std::uint32_t>(), count, n, old, out.as<T>());
      }
    });
    out.finish();
  };
}

// A part of one key's draw; other generators draw all.
Value part_of_bits(const PartArgs& a) {
  const Type& keys = a.in[0]->type();
  const bool threefry = !is_key(keys.dtype) || keys.dtype == DType::key;
  if (!threefry || old_stream(a.params) || !keys_shape(keys).empty()) return nullptr;
  return draw_part(a.in[0], a.params.integer(param::bit_width), a.whole.shape, a.part, a.starts);
}

// Dimensions of keys are the same in the result; elements of a draw know their places in it.
DimFactors dims_of_keys(const Types& in, const Type& out, bool together) {
  return dims_leading(keys_shape(in[0]).size(), in, out,
                      together ? FactorUse::whole : FactorUse::parallel);
}
DimFactors bits_dims(const Params&, const Types& in, const Type& out) {
  return dims_of_keys(in, out, is_wide(in[0].dtype));
}
DimFactors split_dims(const Params&, const Types& in, const Type& out) {
  return dims_of_keys(in, out, in[0].dtype == DType::key_urbg);
}

const Op bits_op{{.name = "random_bits",
                  .operands = 1,
                  .doc = "`shape` unsigned integers of `bit_width` random bits for each key.",
                  .draws = true,
                  .type = [](const Op&, const Types& in, const Params& params) -> Types {
                    check_draws(params, product(keys_shape(in[0])));
                    Type out = with_shape(in[0], drawn_shape(in[0], params));
                    return {with_dtype(out, unsigned_of_width(params.integer(param::bit_width)))};
                  },
                  .batch = batch_drawn,
                  .no_gradient = true,
                  .dims = bits_dims,
                  .part = part_of_bits,
                  .kernel = bits_kernel,
                  .show = show_bits}};

const Op split_op{
    {.name = "random_split",
     .operands = 1,
     .doc = "`shape` new keys for each key.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       check_draws(params, product(keys_shape(in[0])));
       return {keys_like(in[0], drawn_shape(in[0], params))};
     },
     .batch = batch_drawn,
     .no_gradient = true,
     .dims = split_dims,
     .kernel = [](const Types& in, const Types&, const Params& params) -> Kernel {
       const std::int64_t count = product(keys_shape(in[0])),
                          n = product(params.ints(param::shape));
       return [count, n, old = old_stream(params), impl = in[0].dtype,
               group = together(params, count)](std::span<const View> views,
                                                std::span<const View> outs) {
         const DenseInput keys(views[0]);
         const DenseOutput out(outs[0]);
         if (const HashedGenerator* hashed = hashed_generator(impl)) {
           hashed->split(keys.as<void>(), count, n, out.as<void>());
         } else if (impl == DType::key_rbg) {
           split_rbg(keys.as<wide_key_t>(), count, n, old, out.as<wide_key_t>());
         } else if (impl == DType::key_urbg) {
           split_unsafe_rbg({keys.as<wide_key_t>(), count, group}, n, out.as<wide_key_t>());
         } else if (old) {
           draw_words(keys.as<std::uint32_t>(), count, 2 * n, out.as<std::uint32_t>());
         } else {
           draw_elements(keys.as<std::uint32_t>(), count, n, false, out.as<key_t>(),
                         [](std::uint32_t a, std::uint32_t b) { return key_t{{a, b}}; });
         }
         out.finish();
       };
     },
     .show = [](const Params& p) -> std::vector<std::string> {
       return {"shape=" + to_string(p.ints(param::shape))};
     },
     .keys = KeyUse::splits}};

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

// The dimensions of keys and of data are those of their shapes broadcast.
DimFactors fold_in_dims(const Params&, const Types& in, const Type& out) {
  const Shape keys = keys_shape(in[0]), shape = folded_shape(keys, in[1].shape);
  const bool together = in[0].dtype == DType::key_urbg;
  DimFactors dims;
  dims.result = dims.add_each(out.shape, FactorUse::whole);
  for (std::size_t d = 0; d < shape.size() && !together; ++d)
    dims.factors[d].use = FactorUse::parallel;
  for (const Shape& own : {keys, in[1].shape}) {
    ArrayFactors operand;
    for (std::size_t d = 0; d < own.size(); ++d)
      operand.push_back(own[d] == shape[d] ? dims.result[d] : FactorList());
    dims.operands.push_back(std::move(operand));
  }
  if (in[0].rank() > keys.size())
    dims.operands[0].push_back({dims.add(FactorUse::whole, in[0].shape.back())});
  return dims;
}

// Keys of four words, one at a time.
Kernel fold_wide_kernel(const Types& in, const Params& params) {
  const Shape shape = folded_shape(in[0].shape, in[1].shape);
  return [shape, n = product(shape), data_size = in[1].size(), safe = in[0].dtype == DType::key_rbg,
          group = together(params, in[1].size())](std::span<const View> views,
                                                  std::span<const View> outs) {
    const DenseInput keys(spread(views[0], shape)), data(views[1]);
    // The place of each key's number in the data.
    std::vector<std::int64_t> places(index(data_size));
    std::iota(places.begin(), places.end(), 0);
    const DenseInput at(spread({reinterpret_cast<std::byte*>(places.data()), DType::int64,
                                views[1].shape, row_major_strides(views[1].shape)},
                               shape));
    const DenseOutput out(outs[0]);
    visit_dtype(views[1].dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        for (std::int64_t i = 0; i < n; ++i) {
          const std::int64_t place = at.as<std::int64_t>()[i], first = place - place % group;
          const wide_key_t& key = keys.as<wide_key_t>()[i];
          const auto number = [&](std::int64_t k) {
            return static_cast<std::uint32_t>(data.as<T>()[k]);
          };
          out.as<wide_key_t>()[i] = safe ? fold_rbg(key, number(place))
                                         : fold_unsafe_rbg(key, number(first), place - first);
        }
      }
    });
    out.finish();
  };
}

Kernel fold_hashed_kernel(const Types& in, const HashedGenerator* hashed) {
  const Shape shape = folded_shape(in[0].shape, in[1].shape);
  return [shape, n = product(shape), size = itemsize(in[0].dtype), hashed](
             std::span<const View> views, std::span<const View> outs) {
    const DenseInput keys(spread(views[0], shape)), data(spread(views[1], shape));
    const DenseOutput out(outs[0]);
    visit_dtype(views[1].dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_integral_v<T>) {
        for (std::int64_t i = 0; i < n; ++i) {
          hashed->derive(keys.as<std::byte>() + i * size,
                         static_cast<std::uint32_t>(data.as<T>()[i]),
                         out.as<std::byte>() + i * size);
        }
      }
    });
    out.finish();
  };
}

Kernel fold_in_kernel(const Types& in, const Types&, const Params& params) {
  if (const HashedGenerator* hashed = hashed_generator(in[0].dtype))
    return fold_hashed_kernel(in, hashed);
  if (is_key(in[0].dtype) && in[0].dtype != DType::key) return fold_wide_kernel(in, params);
  const Shape shape = folded_shape(keys_shape(in[0]), in[1].shape);
  return [shape, n = product(shape)](std::span<const View> views, std::span<const View> outs) {
    View keys = views[0];
    Shape key_shape = shape;
    if (!is_key(keys.dtype)) {
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
// Unbatched operands gain a leading one, by which the unsafe generator tells them from numbers that
// differ.
Batched fold_in_batch(const BatchArgs& a) {
  Values in = a.in;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!a.batched[i]) in[i] = expand_dims(in[i], {0});
  }
  const bool raw = !is_key(in[0]->dtype());
  const std::size_t key_rank = in[0]->shape().size() - (raw ? 1 : 0),
                    data_rank = in[1]->shape().size();
  const std::size_t rank = std::max(key_rank, data_rank);
  in[0] = expand_dims(in[0], iota_ints(rank - key_rank, static_cast<std::int64_t>(key_rank)));
  in[1] = expand_dims(in[1], iota_ints(rank - data_rank, static_cast<std::int64_t>(data_rank)));
  return batched1(bind1(a.op, separated(a, a.batched[1]), in));
}

const Op fold_in_op{{.name = "random_fold_in",
                     .operands = 2,
                     .doc = "A new key of each key and integer.",
                     .type = [](const Op&, const Types& in, const Params& params) -> Types {
                       check_draws(params, in[1].size());
                       if (!is_integer(in[1].dtype)) {
                         type_error("random_fold_in: data must be integers, got ",
                                    name(in[1].dtype), ".");
                       }
                       return {keys_like(in[0], folded_shape(keys_shape(in[0]), in[1].shape))};
                     },
                     .batch = fold_in_batch,
                     .no_gradient = true,
                     .dims = fold_in_dims,
                     .kernel = fold_in_kernel,
                     .show = show_nothing,
                     .keys = KeyUse::makes}};

const Op threefry_op{
    {.name = "threefry2x32",
     .operands = 4,
     .doc = "Elementwise hash of two words of counters under two words of a key.",
     .draws = true,
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
     .multiple_results = true,
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
